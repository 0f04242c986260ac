"""Files, folders and standard input become records, told by content; the unreadable is named."""

import base64
import gzip
import io
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.errors import Reason
from schemas.record import RawRecord, TextBlock
from streams import opening
from streams.formats import tell
from streams.inputs import Reader

LINE = b"2026-05-12 09:00:01,120 - ClientRunner - INFO - client runner started"
LATER = b"2026-05-12 09:00:02,120 - ClientRunner - ERROR - task failed"
JOB = "0b0c7f6e-5c3f-4a53-9a53-1d3a4f5b6c7d"
EVENT = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "web.17", "namespace": "data", "uid": "u-1"},
    "involvedObject": {"kind": "Pod", "name": "web", "namespace": "data", "uid": "p-1"},
    "reason": "BackOff",
    "message": "Back-off restarting {failed} container",
    "lastTimestamp": "2026-05-12T09:00:00Z",
    "count": 3,
    "type": "Warning",
}
WORKLOAD = {
    "id": "w-1",
    "name": "train",
    "clusterId": "c-1",
    "projectName": "nlp",
    "phase": "Failed",
    "k8sPhase": "Error",
}
META = {
    "schema_version": "1",
    "status": "ok",
    "exit_code": 0,
    "data": {"job_id": JOB, "status": "RUNNING"},
}


class Read:
    """Everything a reader gave for some inputs."""

    def __init__(self, *inputs: str | Path) -> None:
        self.reader = Reader([str(given) for given in inputs])
        self.records: list[RawRecord] = []
        for batch in self.reader.read():
            self.records += batch.records() if isinstance(batch, TextBlock) else batch
        self.rejected = self.reader.take_rejected()

    @property
    def said(self) -> list[tuple[str, bytes | None]]:
        return [(record.topic, record.value) for record in self.records]

    @property
    def paths(self) -> list[str]:
        return list(dict.fromkeys(record.path for record in self.records))

    @property
    def unread(self) -> list[str]:
        return [f"{item.label}: {item.why}" for item in self.reader.unread]

    @property
    def passed_over(self) -> list[str]:
        return [f"{item.label}: {item.why}" for item in self.reader.passed_over]


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def pretty(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n"


def dump(**fields: object) -> bytes:
    return orjson.dumps(fields) + b"\n"


LIST = {"apiVersion": "v1", "kind": "List", "items": [EVENT, EVENT], "metadata": {"a": {"b": 1}}}
CASE = {"id": "x", "records": [{"topic": "runai-phases", "key": "w-1", "value": WORKLOAD}]}


@pytest.mark.parametrize(
    ("data", "topics"),
    [
        pytest.param(orjson.dumps(EVENT), ["k8s-events"], id="one-event"),
        pytest.param(pretty(EVENT), ["k8s-events"], id="one-event-over-lines"),
        pytest.param(orjson.dumps(LIST), ["k8s-events"] * 2, id="list-on-one-line"),
        pytest.param(pretty(LIST), ["k8s-events"] * 2, id="list-over-lines"),
        pytest.param(pretty(EVENT) * 3, ["k8s-events"] * 3, id="watch-over-lines"),
        pytest.param(orjson.dumps(EVENT) * 3, ["k8s-events"] * 3, id="watch-without-line-ends"),
        pytest.param((orjson.dumps(EVENT) + b"\r\n") * 3, ["k8s-events"] * 3, id="json-lines"),
        pytest.param(pretty([EVENT, EVENT]), ["k8s-events"] * 2, id="bare-list"),
        pytest.param(orjson.dumps([EVENT, EVENT]), ["k8s-events"] * 2, id="bare-list-on-a-line"),
        pytest.param(pretty({"workloads": [WORKLOAD]}), ["runai-phases"], id="workloads"),
        pytest.param(pretty(META), ["flare-jobs"], id="nvflare-answer"),
        pytest.param(pretty(CASE), ["runai-phases"], id="case-file"),
        pytest.param(orjson.dumps(CASE), ["runai-phases"], id="case-file-on-one-line"),
        pytest.param(LINE + b"\n" + LATER, ["flare-logs"] * 2, id="log"),
        pytest.param(b"\xef\xbb\xbf" + pretty(EVENT), ["k8s-events"], id="byte-order-mark"),
        pytest.param(
            b"\xff\xfe" + pretty(EVENT).decode().encode("utf-16-le"), ["k8s-events"], id="utf-16"
        ),
        pytest.param(b"\n\n  \n", [], id="blank"),
        pytest.param(b"", [], id="empty"),
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_content_tells_the_topic(
    tmp_path: Path, data: bytes, topics: Sequence[str], packed: bool
) -> None:
    read = Read(written(tmp_path, "misleading.log.txt", gzip.compress(data) if packed else data))
    assert [record.topic for record in read.records] == topics
    assert (read.unread, read.rejected) == ([], [])


def test_elements_of_a_list_have_offsets_of_their_own(tmp_path: Path) -> None:
    for number, data in enumerate((pretty(LIST), orjson.dumps(LIST), pretty([EVENT, EVENT]))):
        read = Read(written(tmp_path, f"{number}.json", data))
        places = {(record.partition, record.offset) for record in read.records}
        assert len(places) == 2


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(
            dump(topic="runai-phases", key="k", value={"a": 1}, timestamp=1, partition=3, offset=9),
            ("runai-phases", 3, 9, b"k", b'{"a":1}', 1000),
            id="object",
        ),
        pytest.param(
            dump(topic="flare-logs", key=None, value="a line", timestamp=1778572800123, offset=9),
            ("flare-logs", None, None, None, b"a line", 1778572800123),
            id="string",
        ),
        pytest.param(
            dump(topic="flare-logs", value="x", timestamp="2026-05-12T08:00:00Z", partition=0),
            ("flare-logs", 0, None, None, b"x", 1778572800000),
            id="time-as-text",
        ),
        pytest.param(
            dump(topic="runai-pods", key="k", value=None, partition=0, offset=1),
            ("runai-pods", 0, 1, b"k", None, 0),
            id="tombstone",
        ),
        pytest.param(
            dump(
                topic="flare-logs", value=base64.b64encode(b"\xff\0x").decode(), encoding="base64"
            ),
            ("flare-logs", None, None, None, b"\xff\0x", 0),
            id="base64",
        ),
        pytest.param(
            dump(
                topic="runai-pods", partition=2, offset=7, ts=1778572800123, key="k", payload="{}"
            ),
            ("runai-pods", 2, 7, b"k", b"{}", 1778572800123),
            id="kcat",
        ),
    ],
)
def test_a_dump_keeps_its_positions(tmp_path: Path, line: bytes, expected: tuple[Any, ...]) -> None:
    (record,) = Read(written(tmp_path, "dump", line)).records
    topic, partition, offset, key, value, timestamp_ms = expected
    assert (record.topic, record.key, record.value) == (topic, key, value)
    assert record.timestamp_ms == timestamp_ms
    assert record.path == "", "a message of a broker was read from no file"
    if partition is not None:
        assert record.partition == partition
    if offset is not None:
        assert record.offset == offset


def test_a_dump_of_a_topic_of_another_name_is_told_by_content(tmp_path: Path) -> None:
    read = Read(written(tmp_path, "dump", dump(topic="prod.events", value=EVENT, offset=4)))
    assert [record.topic for record in read.records] == ["k8s-events"]


def test_files_share_no_positions(tmp_path: Path) -> None:
    written(tmp_path, "a/log.txt", LINE)
    written(tmp_path, "b/log.txt", LINE)
    written(tmp_path, "dump.jsonl", dump(topic="flare-logs", value="x", partition=0, offset=0))
    places = [(r.topic, r.partition, r.offset) for r in Read(tmp_path).records]
    assert len(set(places)) == 3


def test_offsets_are_bytes_of_the_file(tmp_path: Path) -> None:
    data = LINE + b"\r\n\n" + LATER + b"\n"
    read = Read(written(tmp_path, "log.txt", data))
    for record in read.records:
        assert record.value is not None
        assert data[record.offset :].startswith(record.value)
    assert [value for _, value in read.said] == [LINE, LATER]


@pytest.mark.parametrize(
    ("data", "reason", "good"),
    [
        pytest.param(b'{"a": {"b": "c\n' + orjson.dumps(EVENT), Reason.NOT_JSON, 1, id="cut-line"),
        pytest.param(
            b'{"a": {"b": 1,\n' + (orjson.dumps(EVENT) + b"\n") * 3,
            Reason.NOT_JSON,
            3,
            id="cut-after-a-comma",
        ),
        pytest.param(
            orjson.dumps(EVENT) + b'\n{"hello": "world"}', Reason.UNKNOWN_TOPIC, 1, id="foreign"
        ),
        pytest.param(
            orjson.dumps(EVENT) + b"\n\0\1\2\3\0\1\2\3\n", Reason.NOT_TEXT, 1, id="junk-line"
        ),
        pytest.param(
            (LINE + b"\n") * 9 + b"\0\1\2\3\0\1\2\3\n", Reason.NOT_TEXT, 9, id="junk-in-a-log"
        ),
        pytest.param(
            LINE + b"\n" + b"x" * 3_000_000 + b"\n" + LATER, Reason.TOO_LARGE, 2, id="long-line"
        ),
        pytest.param(
            dump(topic="flare-logs", value="%%%", encoding="base64") + orjson.dumps(EVENT),
            Reason.WRONG_SHAPE,
            1,
            id="no-base64",
        ),
        pytest.param(
            b'{"x":' + b"[" * 9_000 + b"]" * 9_000 + b"}\n" + orjson.dumps(EVENT),
            None,
            1,
            id="deep",
        ),
    ],
)
def test_a_part_that_is_no_record_stops_nothing(
    tmp_path: Path, data: bytes, reason: Reason | None, good: int
) -> None:
    read = Read(written(tmp_path, "input", data))
    assert len(read.records) == good
    (rejected,) = read.rejected
    assert reason is None or rejected.error.reason is reason
    assert len(rejected.record.value or b"") <= 4096
    assert read.unread == []


def test_a_long_list_needs_the_memory_of_an_element(tmp_path: Path) -> None:
    many = pretty({**LIST, "items": [EVENT] * 5_000})
    sizes = [len(batch) for batch in Reader([str(written(tmp_path, "l", many))]).read()]  # type: ignore[arg-type]
    assert sum(sizes) == 5_000
    assert max(sizes) <= 2_000


def test_bytes_that_are_no_utf8_are_read_as_latin_1(tmp_path: Path) -> None:
    read = Read(written(tmp_path, "log.txt", LINE + b" caf\xe9\n" + LATER))
    assert [value for _, value in read.said] == [LINE + " café".encode(), LATER]


def test_a_folder_is_walked_in_the_stated_order(tmp_path: Path) -> None:
    for name in ("error_log.txt", "log.txt", "log.txt.1", "log.txt.2", "b/log.txt", "a/log.txt"):
        written(tmp_path, f"ws/site-1/{name}", LINE)
    found = [path.removeprefix("ws/site-1/") for path in Read(tmp_path / "ws").paths]
    expected = ["log.txt.2", "log.txt.1", "log.txt", "error_log.txt", "a/log.txt", "b/log.txt"]
    assert found == expected


@pytest.mark.parametrize(
    ("inputs", "labels"),
    [
        pytest.param(["ws"], [f"ws/site-1/{JOB}/log.txt", "ws/site-2/log.txt"], id="folder"),
        pytest.param([f"ws/site-1/{JOB}"], [f"site-1/{JOB}/log.txt"], id="job-folder"),
        pytest.param(
            ["ws/site-2/log.txt", f"ws/site-1/{JOB}/log.txt"],
            ["ws/site-2/log.txt", f"ws/site-1/{JOB}/log.txt"],
            id="files-together",
        ),
        pytest.param(["ws/site-2", "ws/site-2/log.txt"], ["site-2/log.txt"], id="read-once"),
    ],
)
def test_a_label_keeps_site_and_job(
    tmp_path: Path, inputs: Sequence[str], labels: Sequence[str]
) -> None:
    written(tmp_path, f"ws/site-1/{JOB}/log.txt", LINE)
    written(tmp_path, "ws/site-2/log.txt", LINE)
    assert Read(*(tmp_path / given for given in inputs)).paths == labels


def test_a_file_alone_shows_at_most_four_parts(tmp_path: Path) -> None:
    (label,) = Read(written(tmp_path, "a/b/c/site-1/log.txt", LINE)).paths
    assert label == "b/c/site-1/log.txt"


IDENTIFIED = LINE.replace(b" client", b" [identity=clinic, run=x] - client")


@pytest.mark.parametrize(
    ("place", "data", "label"),
    [
        pytest.param("Downloads/log.txt", IDENTIFIED, "log.txt", id="means-nothing"),
        pytest.param("a/clinic/log.txt", IDENTIFIED, "*/a/clinic/log.txt", id="its-lines-say-so"),
        pytest.param("a/site-1/log.txt", IDENTIFIED, "*/a/site-1/log.txt", id="named-as-a-site"),
        pytest.param("a/Downloads/log.txt", LINE, "*/a/Downloads/log.txt", id="no-other-hint"),
    ],
)
def test_a_folder_that_is_no_site_is_not_taken_for_one(
    tmp_path: Path, place: str, data: bytes, label: str
) -> None:
    (found,) = Read(written(tmp_path, place, data)).paths
    assert Path(found).match(label)
    assert ("/" in found) == ("/" in label)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        pytest.param("client.py", b"import torch\n# Traceback\n", "no log", id="source"),
        pytest.param("meta.json", b'{"hello": 1}', "no known producer", id="foreign-json"),
        pytest.param("model.pt", b"PK\x03\x04" + b"\0" * 99, "zip", id="archive"),
        pytest.param("client.key", LINE, "never opened", id="key"),
        pytest.param("rootCA.pem", LINE, "never opened", id="certificate"),
        pytest.param(".secret", LINE, "hidden", id="hidden"),
    ],
)
def test_a_folder_passes_over_what_is_no_record(
    tmp_path: Path, name: str, data: bytes, why: str
) -> None:
    written(tmp_path, f"ws/{name}", data)
    written(tmp_path, "ws/log.txt", LINE)
    read = Read(tmp_path / "ws")
    assert [value for _, value in read.said] == [LINE]
    assert len(read.passed_over) == 1
    assert why in read.passed_over[0]
    assert read.unread == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("anything", LINE, id="by-its-lines"),
        pytest.param("core.1", b"E1130 20:45:17.838029 14087 add_port.cc:83] Failed\n", id="glog"),
        pytest.param("out", b"x\nTraceback (most recent call last):\n", id="traceback"),
        pytest.param("nohup.out", b"start fl because of no pid.fl\n", id="by-its-name"),
        pytest.param("poc_console.log", b"WORKSPACE set to /opt\n", id="console"),
    ],
)
def test_a_folder_finds_logs_by_lines_or_name(tmp_path: Path, name: str, data: bytes) -> None:
    written(tmp_path, f"ws/{name}", data)
    assert Read(tmp_path / "ws").paths == [f"ws/{name}"]


def test_links_devices_and_pipes_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    written(tmp_path, "outside.log", LATER)
    written(folder, "log.txt", LINE)
    (folder / "out.log").symlink_to(tmp_path / "outside.log")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.log")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "s"))
        read = Read(folder)
    assert [value for _, value in read.said] == [LINE]
    assert len(read.passed_over) == 4


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        pytest.param("absent", None, "no such file", id="absent"),
        pytest.param("a.zip", b"PK\x03\x04" + b"\0" * 99, "unpack", id="zip"),
        pytest.param("a.bin", bytes(range(256)) * 40, "binary", id="binary"),
        pytest.param("a.yaml", b"apiVersion: v1\nitems:\n- x\n", "-o json", id="yaml"),
        pytest.param("a.gz", gzip.compress(gzip.compress(LINE)), "gzip inside", id="gzip-twice"),
    ],
)
def test_an_input_that_cannot_be_read_is_named(
    tmp_path: Path, name: str, data: bytes | None, why: str
) -> None:
    path = tmp_path / name if data is None else written(tmp_path, name, data)
    read = Read(path, written(tmp_path, "log.txt", LINE))
    assert [value for _, value in read.said] == [LINE], "the rest goes on"
    assert len(read.unread) == 1
    assert why in read.unread[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_file_is_named(tmp_path: Path) -> None:
    written(tmp_path, "ws/a.log", LINE).chmod(0)
    written(tmp_path, "ws/b.log", LINE)
    read = Read(tmp_path / "ws")
    assert read.unread == ["ws/a.log: permission denied"]
    assert len(read.records) == 1


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda packed: packed[: len(packed) // 2], id="cut-short"),
        pytest.param(lambda packed: packed[:-40] + b"\xff" * 40, id="damaged"),
    ],
)
def test_a_broken_gzip_gives_what_was_read(tmp_path: Path, damage: Any) -> None:
    lines = b"".join(LINE + b" %d\n" % number for number in range(200_000))
    read = Read(written(tmp_path, "log.txt.gz", damage(gzip.compress(lines))))
    assert len(read.records) > 1_000
    assert len(read.unread) == 1


def test_a_gzip_of_many_members_is_read_whole(tmp_path: Path) -> None:
    packed = gzip.compress(LINE + b"\n") + gzip.compress(LATER + b"\n") + b"\0" * 512
    read = Read(written(tmp_path, "log.txt.gz", packed))
    assert [value for _, value in read.said] == [LINE, LATER]
    assert read.unread == []


def test_a_gzip_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "RATIO_FROM_BYTES", 1_000_000)
    bomb = gzip.compress(b"a line\n" * 3_000_000)
    read = Read(written(tmp_path, "log.txt.gz", bomb))
    assert len(read.records) < 3_000_000
    assert "unpacks to more than" in read.unread[0]


def test_standard_input_is_told_by_content_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pretty(LIST))))
    assert [topic for topic, _ in Read("-").said] == ["k8s-events"] * 2


def test_a_pipe_given_by_name_is_read(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, LINE)
    os.close(write_end)
    try:
        assert Read(f"/dev/fd/{read_end}").said == [("flare-logs", LINE)]
    finally:
        os.close(read_end)


def test_progress_counts_the_bytes_on_disk(tmp_path: Path) -> None:
    path = written(tmp_path, "log.txt.gz", gzip.compress(LINE * 1_000))
    counted: list[int] = []
    reader = Reader([str(path)], on_read=counted.append)
    list(reader.read())
    assert sum(counted) == reader.total_bytes == path.stat().st_size


def test_telling_a_format_never_fails() -> None:
    for head in (b"{", b"[", b"\xff\xfe\0", b"\x1f\x8b", bytes(range(256)), b"\xef\xbb\xbf"):
        tell(head)
