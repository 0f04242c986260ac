"""Whole log entries from lines, however they were cut, mixed and shipped."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchers import assembly
from matchers.entries import Open, assemble, close_stale, mode_of, seen, stream_key, wants
from schemas.entry import Entry
from schemas.record import RawRecord
from schemas.sources.shippers import Line, unwrap

JOB = "5b2f3d1c-0a4e-4c59-9f6e-7d1a2b3c4d5e"
LOG, CONSOLE = f"/fl/site-1/{JOB}/log.txt", "/fl/site-1/poc_console.log"
LIB = "/usr/lib/python3.11/site-packages/nvflare"
APP = f"/fl/site-1/{JOB}/app_site-1/custom/client.py"
FLARE_FRAME = [f'  File "{LIB}/app_common/executors/x.py", line 9, in run', "    raise ie"]
USER_FRAME = [f'  File "{APP}", line 8, in <module>', "    import monai"]
BEGIN, MISSING = (
    "Traceback (most recent call last):",
    "ModuleNotFoundError: No module named 'monai'",
)
TRACE = [BEGIN, *FLARE_FRAME, *USER_FRAME, MISSING]
THREAD = "Exception in thread client_api_in_process_trainer:"


def head(second: int, text: str, logger: str = "Runner", level: str = "INFO") -> str:
    return f"2026-03-01 08:00:{second:02d},000 - {logger} - {level} - {text}"


def lines(
    texts: Sequence[str], path: str = LOG, *, start: int = 0, **more: Any
) -> list[tuple[RawRecord, Line]]:
    made, offset = [], start
    for text in texts:
        record = RawRecord(
            topic="flare-logs", offset=offset, path=path, value=text.encode(), **more
        )
        made.append((record, unwrap(record, None)))
        offset += len(text.encode()) + 1
    return made


def whole(texts: Sequence[str], path: str = LOG, **more: Any) -> list[Entry]:
    return assemble(lines(texts, path, **more), Open(), final=True, federation="f")[0]


def texts_of(entries: Sequence[Entry]) -> list[str]:
    return [entry.text for entry in entries]


# --- forms of tracebacks -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "path"),
    [
        pytest.param([head(1, BEGIN, level="ERROR"), *TRACE[1:], ""], LOG, id="under-a-header"),
        pytest.param([*TRACE, ""], CONSOLE, id="bare"),
        pytest.param([THREAD, *TRACE], CONSOLE, id="of-a-thread"),
        pytest.param(
            [THREAD, *TRACE[:4], head(1, "other"), head(2, "thread"), *TRACE[4:]],
            CONSOLE,
            id="interrupted-by-headers",
        ),
        pytest.param([*TRACE[:3], "a print", *TRACE[3:]], CONSOLE, id="interrupted-by-a-print"),
        pytest.param(
            [head(1, row, "ExternalProcessBackend") for row in TRACE], LOG, id="piped-since-2.9"
        ),
        pytest.param(
            [head(1, row, "SubprocessLauncher") for row in TRACE[:3]]
            + [head(2, "other")]
            + [head(3, row, "SubprocessLauncher") for row in TRACE[3:]],
            LOG,
            id="piped-to-2.8-and-interrupted",
        ),
        pytest.param(["\n".join([head(1, BEGIN), *TRACE[1:]])], LOG, id="one-record"),
        pytest.param(["\n".join(TRACE)], CONSOLE, id="one-bare-record"),
        pytest.param(
            [
                head(1, BEGIN)
                + f'\r\n  File "{APP}", line 8, in <module>\r\n'
                + "Exception Type: <class 'ModuleNotFoundError'>"
            ],
            LOG,
            id="secure-logging",
        ),
    ],
)
def test_traceback_is_one_entry(texts: list[str], path: str) -> None:
    (entry,) = [entry for entry in whole(texts, path) if "exception" in entry.attrs]
    assert (entry.attrs["exception"], entry.attrs["owner"]) == ("ModuleNotFoundError", "user")
    assert (entry.attrs["user_file"], entry.attrs["user_line"]) == (APP, 8)
    assert (entry.where.site, entry.where.job) == ("site-1", JOB)
    assert not {"cut", "truncated"} & entry.attrs.keys()
    assert "other" not in entry.text
    assert "a print" not in entry.text


def test_lines_between_are_entries_of_their_own() -> None:
    entries = whole([*TRACE[:4], head(1, "other"), *TRACE[4:], head(2, "last")], CONSOLE)
    assert sorted(texts_of(entries)) == sorted(["\n".join(TRACE), "other", "last"])


def test_traceback_in_a_json_record() -> None:
    value = {
        "asctime": "2026-03-01 08:00:01,000",
        "name": "TaskScriptRunner",
        "levelname": "ERROR",
        "message": "\n".join(TRACE) + "\n",
        "log.file.path": LOG.replace(".txt", ".json"),
    }
    record = RawRecord(topic="flare-logs", value=msgspec.json.encode(value))
    (entry,) = assemble([(record, unwrap(record, value))], Open(), final=True)[0]
    (same,) = whole([head(1, BEGIN, "TaskScriptRunner", "ERROR"), *TRACE[1:], ""])
    assert (entry.text, entry.attrs, entry.record_id) == (same.text, same.attrs, same.record_id)


def test_only_the_end_of_a_traceback() -> None:
    tail, next_one = whole([*USER_FRAME, "ValueError: shape", head(1, "fire abort event")])
    assert tail.attrs["truncated"] == 1
    assert (tail.attrs["exception"], tail.attrs["owner"]) == ("ValueError", "user")
    assert next_one.text == "fire abort event"


def test_chained_and_many_line_exceptions_stay_whole() -> None:
    rows = [*TRACE, "", "During handling of the above exception, another exception occurred:", ""]
    rows += [BEGIN, *FLARE_FRAME, "pkg.ValidationError: 1 error", "  field n", "    wrong type"]
    (chained, after) = whole([*rows, "done"], CONSOLE)
    assert chained.text == "\n".join(rows)
    assert (chained.attrs["exception"], after.text) == ("ModuleNotFoundError", "done")


def test_two_tracebacks_are_two_entries() -> None:
    assert texts_of(whole([*TRACE, *TRACE], CONSOLE)) == ["\n".join(TRACE)] * 2


def test_loggers_that_pipe_are_apart() -> None:
    mixed = [
        row
        for message in TRACE
        for row in (
            head(1, message, "ExternalProcessBackend"),
            head(1, message, "SubprocessLauncher"),
        )
    ]
    entries = whole(mixed)
    assert texts_of(entries) == ["\n".join(TRACE)] * 2
    assert {entry.where.process for entry in entries} == {"subprocess"}


# --- other lines ---------------------------------------------------------------------------------


def test_continuation_in_a_log_file() -> None:
    (entry, _) = whole([head(1, "Received weights: [[1 2]"), " [3 4]]", "======", head(2, "x")])
    assert entry.text == "Received weights: [[1 2]\n [3 4]]\n======"


def test_plain_lines_of_a_console_are_nobodys() -> None:
    entries = whole([head(1, "up", "Cell"), "Killed", "  details", "next"], CONSOLE)
    assert [(entry.logger, entry.level, entry.text) for entry in entries] == [
        ("Cell", "INFO", "up"),
        ("", "", "Killed\n  details"),
        ("", "", "next"),
    ]


def test_pieces_of_a_cut_line() -> None:
    values = [
        {"log": "2026-03-01 08:00:01,000 - A - INFO - on", "logtag": "P"},
        {"log": "e\n", "logtag": "F"},
    ]
    made = [
        (record, unwrap(record, value))
        for at, value in enumerate(values)
        for record in [RawRecord(topic="flare-logs", offset=at)]
    ]
    assert texts_of(assemble(made, Open(), final=True)[0]) == ["one"]
    entries, still_open = assemble(made[:1], Open())
    assert texts_of(assemble(made[1:], still_open, final=True)[0] + entries) == ["one"]
    assert len(assemble(made[:1], Open(), final=True)[0]) == 1


# --- place, time, id -----------------------------------------------------------------------------


def test_place_time_and_witnesses() -> None:
    context = f"[identity=site-1, run={JOB}, peer=server, peer_rc=TASK_ABORTED] - lost"
    (entry,) = whole([head(3, context, level="ERROR")])
    assert entry.where.federation == "f"
    assert (entry.where.workspace, entry.where.process, entry.where.file) == ("/fl", "CJ", LOG)
    assert (entry.first_ms, entry.last_ms) == (1772352003000, 1772352003000)
    assert entry.attrs == {
        "identity": "site-1",
        "run": JOB,
        "peer": "server",
        "peer_rc": "TASK_ABORTED",
        "mode": "poc_production",
    }


def test_lines_without_a_time_take_the_last_one() -> None:
    entries = whole([head(7, "up"), "Killed"], CONSOLE)
    assert [entry.first_ms for entry in entries] == [1772352007000] * 2


def test_shipper_time_goes_first() -> None:
    value = {"message": head(7, "up"), "@timestamp": "2026-03-01T07:00:00Z", "file": LOG}
    record = RawRecord(topic="flare-logs")
    (entry,) = assemble([(record, unwrap(record, value))], Open(), final=True)[0]
    assert entry.first_ms == 1772348400000


@pytest.mark.parametrize(
    ("texts", "path", "mode"),
    [
        (
            [head(1, "[identity=simulator_server, run=simulate_job] - x")],
            "/w/h/server/log.txt",
            "simulation",
        ),
        ([head(1, "x", "SimulatorRunner")], "log.txt", "simulation"),
        (
            [BEGIN, '  File "/home/me/job.py", line 1, in f', "TypeError: x"],
            "out.txt",
            "simulation",
        ),
        (
            [head(1, f"Try to schedule job {JOB}", "DefaultJobScheduler")],
            "log.txt",
            "poc_production",
        ),
        ([head(1, f"[identity=a, run={JOB}] - x")], "log.txt", "poc_production"),
        ([head(1, "[identity=a, run=simulate_job] - print")], LOG, "poc_production"),
        ([head(1, "x")], "/fl/site-1/log.txt", None),
    ],
)
def test_mode(texts: list[str], path: str, mode: str | None) -> None:
    (entry,) = whole(texts, path)
    assert entry.attrs.get("mode") == mode


@pytest.mark.parametrize(
    ("path", "identity", "spoofed"),
    [
        (LOG, "site-2", True),
        (LOG, "site-1", False),
        (LOG, "example_project", False),
        (LOG.replace("site-1", "server"), "our_project", False),
        (LOG.replace("site-1", "server"), "site-2", True),
        ("/fl/berlin_ws/log.txt", "berlin", False),
        ("log.txt", "site-2", False),
    ],
)
def test_context_of_another_site(path: str, identity: str, spoofed: bool) -> None:
    (entry,) = whole([head(1, f"[identity={identity}, run=x] - CUDA out of memory")], path)
    assert ("spoofed_identity" in entry.attrs) is spoofed


@pytest.mark.parametrize(
    ("value", "site", "job"),
    [
        ({"message": "m", "fields": {"site": "s", "job": "j"}, "file": LOG}, "s", "j"),
        ({"log": "m", "kubernetes": {"pod_name": f"site-2-{JOB}"}}, "site-2", JOB),
        ({"log": "m", "kubernetes": {"pod_name": "p", "labels": {"nvflare/site": "s"}}}, "s", "k"),
        ({"message": "m", "host": "site-4"}, "site-4", "k"),
        ({"message": "m", "host": "gpu-box"}, "", "k"),
        ({"message": f"run ({JOB}): finished", "file": "/fl/site-1/log.txt"}, "site-1", JOB),
    ],
)
def test_site_and_job_of_shipped_lines(value: dict[str, Any], site: str, job: str) -> None:
    other = "11111111-2222-3333-4444-555555555555"
    record = RawRecord(topic="flare-logs", key=other.encode())
    (entry,) = assemble([(record, unwrap(record, value))], Open(), final=True)[0]
    assert (entry.where.site, entry.where.job) == (site, other if job == "k" else job)


def test_site_of_a_shared_console_from_the_apps_folder() -> None:
    app = '  File "/w/simulation/h/site-2/simulate_job/app_site-2/custom/c.py", line 1, in f'
    (entry,) = whole([THREAD, BEGIN, app, "    x", "KeyError: 1"], "/w/simulation/h/stderr.txt")
    assert (entry.where.site, entry.where.workspace) == ("site-2", "/w/simulation/h")


def test_one_id_for_copies_of_a_line() -> None:
    rows = [head(1, BEGIN, level="ERROR"), *TRACE[1:]]
    files = ("log.txt", "error_log.txt", "log_fl.txt", "log.txt.1")
    copies = [whole(rows, LOG.replace("log.txt", file), start=9)[0] for file in files]
    assert len({entry.record_id for entry in copies}) == 1
    assert whole(rows, LOG.replace("site-1", "site-2"))[0].record_id != copies[0].record_id


def test_plain_lines_are_told_apart_by_their_place() -> None:
    first, second = whole(["Killed", "Killed"], CONSOLE)
    assert first.record_id != second.record_id
    assert whole(["Killed"], CONSOLE)[0].record_id == first.record_id


def test_what_a_stream_says_by_its_place() -> None:
    ((record, line),) = lines(["x"])
    where = seen(record, line, federation="f")
    assert (where.federation, where.site, where.job) == ("f", "site-1", JOB)
    assert mode_of(record, line) == "poc_production"


# --- laws ----------------------------------------------------------------------------------------

MATERIAL = [
    *TRACE,
    THREAD,
    "",
    "plain",
    "  indented",
    "During handling of the above exception, another exception occurred:",
    head(1, "one"),
    head(2, "two", "Cell", "ERROR"),
    head(3, BEGIN, level="ERROR"),
    *(head(4, row, "ExternalProcessBackend") for row in (*TRACE, "step 1")),
    head(5, BEGIN, "SubprocessLauncher"),
    "\n".join([head(6, BEGIN), *TRACE[1:]]),
    "first\nsecond",
    "E0301 08:00:00.250000 14087 a.cc:83] Failed",
]
rows_of_a_stream = st.lists(st.sampled_from(MATERIAL), max_size=25)


def ordered(entries: Sequence[Entry]) -> list[bytes]:
    return sorted(msgspec.json.encode(entry) for entry in entries)


def in_batches(
    made: Sequence[tuple[RawRecord, Line]], cuts: Sequence[int], hits: frozenset[int] | None = None
) -> list[Entry]:
    entries: list[Entry] = []
    still_open = Open()
    bounds = sorted({0, len(made), *(cut for cut in cuts if cut <= len(made))})
    for start, end in pairwise(bounds):
        here = None if hits is None else {at - start for at in hits if start <= at < end}
        before = msgspec.json.encode(still_open)
        said, after = assemble(made[start:end], still_open, hits=here)
        assert msgspec.json.encode(still_open) == before
        still_open = msgspec.json.decode(msgspec.json.encode(after), type=Open)
        entries += said
    return entries + assemble([], still_open, final=True)[0]


@given(
    rows_of_a_stream, st.lists(st.integers(0, 25)), st.none() | st.frozensets(st.integers(0, 24))
)
@settings(deadline=None)
def test_batches_make_no_difference(
    rows: list[str], cuts: list[int], hits: frozenset[int] | None
) -> None:
    for path in (LOG, CONSOLE):
        made = lines(rows, path)
        assert ordered(in_batches(made, cuts, hits)) == ordered(in_batches(made, [], hits))


@given(rows_of_a_stream, rows_of_a_stream, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_interleaving_of_files_makes_no_difference(
    first: list[str], second: list[str], random: Any
) -> None:
    one, two = lines(first, LOG), lines(second, CONSOLE)
    left, right, mixed = list(one), list(two), []
    while left or right:
        mixed.append((left if not right or (left and random.random() < 0.5) else right).pop(0))
    apart = assemble(one, Open(), final=True)[0] + assemble(two, Open(), final=True)[0]
    assert ordered(assemble(mixed, Open(), final=True)[0]) == ordered(apart)


@given(rows_of_a_stream)
@settings(deadline=None)
def test_no_line_is_lost(rows: list[str]) -> None:
    for path in (LOG, CONSOLE):
        said = "\n".join(texts_of(whole(rows, path)))
        for word in ("plain", "one", "two", "step 1", "second", "a.cc:83", "monai'"):
            assert said.count(word) == sum(row.count(word) for row in rows)


@given(st.lists(st.text(alphabet='\x1b[T-: \n\r09aFile"é\ud800', max_size=30), max_size=12))
@settings(deadline=None)
def test_any_text_is_assembled(rows: list[str]) -> None:
    made = [
        (record, unwrap(record, {"message": row, "file": CONSOLE}))
        for row in rows
        for record in [RawRecord(topic="t")]
    ]
    entries, left = assemble(made, Open(), final=True)
    assert not left.streams
    msgspec.json.encode(entries)


# --- quiet lines and bounds ----------------------------------------------------------------------


def test_quiet_entries_are_dropped_but_give_context() -> None:
    made = lines(
        [head(1, "quiet"), head(2, "failed:", level="ERROR"), "out of memory", head(3, "q")]
    )
    (entry,) = assemble(made, Open(), final=True, hits={2})[0]
    assert (entry.level, entry.text) == ("ERROR", "failed:\nout of memory")


def test_tracebacks_need_no_hit() -> None:
    assert len(assemble(lines(TRACE, CONSOLE), Open(), final=True, hits=())[0]) == 1


def test_which_streams_are_wanted() -> None:
    made = lines([head(1, "hit"), head(2, "quiet")])
    stream = stream_key(*made[0])
    assert not wants(Open(), stream)
    entries, still_open = assemble(made[:1], Open(), hits={0})
    assert entries == []
    assert wants(still_open, stream)
    entries, still_open = assemble(made[1:], still_open, hits=())
    assert texts_of(entries) == ["hit"]
    assert not wants(still_open, stream)


def test_silent_streams_are_completed_by_time() -> None:
    made = lines([head(1, "last words")], timestamp_ms=1000)
    _, still_open = assemble(made, Open())
    assert close_stale(still_open, 1000 + assembly.OPEN_MS)[0] == []
    entries, left = close_stale(still_open, 1001 + assembly.OPEN_MS)
    assert texts_of(entries) == ["last words"]
    assert not left.streams


def test_an_entry_does_not_wait_for_ever() -> None:
    early = lines([head(1, "failed:")], timestamp_ms=1000)
    late = lines(["  far too late"], timestamp_ms=2000 + assembly.OPEN_MS)
    assert texts_of(assemble(early + late, Open(), final=True)[0]) == ["failed:", "  far too late"]


def test_too_many_lines_are_cut() -> None:
    rows = [head(1, "numbers:")] + [" 1 2 3"] * (assembly.ENTRY_LINES * 3) + [head(2, "end")]
    first, last = assemble(lines(rows), Open(), final=True, hits={0, len(rows) - 1})[0]
    assert (first.attrs.get("cut"), last.text) == (1, "end")


def test_too_long_lines_are_cut_to_head_and_tail() -> None:
    (entry,) = whole([head(1, "x" * 500_000 + " the end")])
    assert len(entry.text) <= 16 * 1024
    assert entry.text.endswith("the end")


def test_streams_are_bounded_and_the_quietest_goes_first() -> None:
    many = assembly.OPEN_STREAMS + 5
    made = [lines([head(1, f"n{at}")], f"/fl/site-{at}/log.txt")[0] for at in range(many)]
    entries, still_open = assemble(made, Open())
    assert texts_of(entries) == [f"n{at}" for at in range(5)]
    assert all(entry.attrs["cut"] == 1 for entry in entries)
    assert len(still_open.streams) == assembly.OPEN_STREAMS


def test_open_text_is_bounded() -> None:
    made = [lines(["x" * 60_000], f"/fl/site-{at}/con.log")[0] for at in range(1500)]
    _, still_open = assemble(made, Open())
    held = sum(h.size for stream in still_open.streams.values() for h in stream.held())
    assert held <= assembly.OPEN_BYTES + assembly.ENTRY_BYTES
