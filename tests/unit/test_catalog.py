"""Folders to one catalog: layering, digest, and every fault at once."""

from pathlib import Path

import pytest

from matchers.loading import builtin_folder, load
from matchers.rows import CatalogError

ROW = """
[[signal]]
id = "{id}"
title = "{title}"
sources = ["k8s_event"]
phrases = ["{phrase}"]
matches = ["{phrase}"]
rejects = ["no"]
why = "A template."
"""


def signal(name: str = "a.b", title: str = "t", phrase: str = "lost") -> str:
    """A row that is in order."""
    return ROW.format(id=name, title=title, phrase=phrase)


def folder(path: Path, **files: str) -> Path:
    """A catalog folder of TOML files."""
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / f"{name}.toml").write_text(text, encoding="utf-8")
    return path


def alone(*folders: Path, base: Path) -> list[str]:
    """The faults of folders over an empty built-in catalog."""
    try:
        load(folders, builtin=folder(base / "nothing"))
    except CatalogError as error:
        return [str(fault) for fault in error.faults]
    return []


def test_the_shipped_catalog_loads() -> None:
    assert load().digest == load([]).digest
    assert builtin_folder().is_dir()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("[[signal]\n", "no TOML", id="syntax"),
        pytest.param("x = 1\n", "unknown table 'x'", id="unknown-table"),
        pytest.param("[signal]\nid = 'a'\n", "'signal' is no table of rows", id="single-table"),
        pytest.param(signal() + "phrase = ['a']", "unknown field 'phrase'", id="unknown-field"),
        pytest.param(signal() + "levels = 'ERROR'", "Expected `array`, got `str`", id="wrong-type"),
        pytest.param(signal() + "levels = ['FATAL']", "levels: 'FATAL' is not known", id="level"),
        pytest.param(signal() + "status = 'new'", "status: 'new' is not known", id="status"),
        pytest.param(
            signal().replace("k8s_event", "k8s"), "Invalid enum value 'k8s'", id="unknown-source"
        ),
        pytest.param(signal().replace('why = "A', '# "'), "field 'why' is missing", id="missing"),
        pytest.param(
            signal().replace('phrases = ["lost"]', ""),
            "neither phrases nor reasons",
            id="no-way-in",
        ),
        pytest.param(signal(phrase=" "), "nothing to search for", id="blank-phrase"),
        pytest.param(signal() + "regex = 'a(?!b)'", "list what must not occur", id="regex"),
        pytest.param(signal() + signal(), "defined twice in one folder", id="twice"),
        pytest.param(
            "[[route]]\nname='r'\ntitle='t'\naction='a'\nwhy='w'\nsignals=['x.y']",
            "signals: no signal 'x.y'",
            id="route-names-no-signal",
        ),
        pytest.param(
            "[[category]]\nname='C'\ntitle='t'\nowner='o'\naction='a'\nwhy='w'\nsignals=['pod.phase']\n"
            "[[category.subcauses]]\nname='S'\ntitle='t'\nsignals=['x.y']\naction='a'\nowner='o'",
            "subcause 'S': no signal 'x.y'",
            id="subcause-names-no-signal",
        ),
        pytest.param(
            "[[pattern]]\nname='P'\ntitle='t'\nrecovery_category='EASY'\nmodes=['poc']\nrank=1\n"
            "action='a'\nwhy='w'\nowner='o'\nneeds=[['job.meta', 'x.y']]",
            "needs: no signal 'x.y'",
            id="pattern-names-no-signal",
        ),
        pytest.param(
            "[[extend]]\nsignal='x.y'\nwhy='w'\n",
            "extend x.y: no such signal",
            id="extends-nothing",
        ),
        pytest.param(
            "[[exit_code]]\ncode=1\nmeaning='m'\nreading='bad'", "reading: 'bad'", id="reading"
        ),
    ],
)
def test_fault(text: str, said: str, tmp_path: Path) -> None:
    faults = alone(folder(tmp_path / "own", rows=text), base=tmp_path)
    assert any(said in fault for fault in faults), faults
    assert all("rows.toml" in fault for fault in faults)


def test_all_faults_come_at_once_with_file_and_line(tmp_path: Path) -> None:
    own = folder(
        tmp_path / "own",
        a="[[signal]]\nid = 'a.b'\ntypo = 1\n",
        b="broken\n",
        c=signal() + signal("c.d") + "regex = '('\n",
    )
    faults = alone(own, tmp_path / "absent", base=tmp_path)
    assert len([f for f in faults if "a.toml:1: signal a.b" in f]) == 6  # five missing, one unknown
    assert any("b.toml:1: no TOML" in f for f in faults)
    assert any("c.toml:11: signal c.d: regex" in f for f in faults)
    assert any("absent: cannot be read" in f for f in faults)


def test_a_fault_is_not_echoed_by_the_rows_that_name_it(tmp_path: Path) -> None:
    route = "[[route]]\nname='r'\ntitle='t'\naction='a'\nwhy='w'\nsignals=['a.b']\n"
    faults = alone(folder(tmp_path / "own", rows=signal() + "typo = 1\n" + route), base=tmp_path)
    assert len(faults) == 1


def test_a_later_folder_replaces_and_adds(tmp_path: Path) -> None:
    first = folder(tmp_path / "1", rows=signal("a.b", "first") + signal("c.d", "kept"))
    second = folder(tmp_path / "2", rows=signal("a.b", "second") + signal("e.f", "new"))
    catalog = load([first, second], builtin=folder(tmp_path / "0"))
    titles = {s.id: s.title for s in catalog.signals.values()}
    assert titles == {"a.b": "second", "c.d": "kept", "e.f": "new"}
    assert list(titles) == ["a.b", "c.d", "e.f"]
    assert catalog.places["signal", "a.b"].file == str(second / "rows.toml")


def test_extend_adds_to_a_signal(tmp_path: Path) -> None:
    base = folder(tmp_path / "0", rows=signal())
    more = (
        "[[extend]]\nsignal='a.b'\nwhy='Ours says so too.'\nphrases=['gone', 'lost']\n"
        "matches=['gone']\nrejects=['here']\n"
    )
    row = load([folder(tmp_path / "1", rows=more)], builtin=base).signals["a.b"]
    assert row.phrases == ["lost", "gone"]
    assert row.matches == ["lost", "gone"]
    assert row.rejects == ["no", "here"]
    assert row.why == "A template. Ours says so too."


@pytest.mark.parametrize(
    ("files", "same"),
    [
        pytest.param({"rows": signal("c.d") + signal("a.b")}, True, id="order"),
        pytest.param({"x": signal("a.b"), "y": signal("c.d")}, True, id="cut-into-files"),
        pytest.param(
            {"rows": "# a comment\n" + signal("a.b") + "\n\n" + signal("c.d")}, True, id="comments"
        ),
        pytest.param({"rows": signal("a.b") + signal("c.d", "T")}, False, id="a-title"),
        pytest.param({"rows": signal("a.b")}, False, id="a-row-less"),
        pytest.param(
            {"rows": signal("a.b") + signal("c.d"), "secrets": "[[never]]\nwords = ['x']\n"},
            False,
            id="secrets-count",
        ),
    ],
)
def test_digest(files: dict[str, str], same: bool, tmp_path: Path) -> None:
    nothing = folder(tmp_path / "0")
    one = folder(tmp_path / "1", rows=signal("a.b") + signal("c.d"))
    two = folder(tmp_path / "2", **files)
    digests = [load([path], builtin=nothing).digest for path in (one, two)]
    assert (digests[0] == digests[1]) is same


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    own = folder(tmp_path / "own", rows=signal())
    (own / "notes.md").write_text("[[signal]")
    (own / "not-utf8.toml").write_bytes(b"\xff\xfe")
    (fault,) = alone(own, base=tmp_path)
    assert "not-utf8.toml: byte 0 is no UTF-8" in fault
