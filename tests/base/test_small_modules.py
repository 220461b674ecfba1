"""Clocks, processes, inputs, strict JSON, bundled content and spooled columns, each by a fact or two of its own."""

import datetime
import gzip
import io
import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sandscore.base import clock, process_identity
from sandscore.base.bundled_content import example_gold, hipaa_map, root, schema_path, submissions
from sandscore.base.byte_sources import BadStream, NamedBytes, opened
from sandscore.base.column_files import Spool
from sandscore.base.errors import MissingFile, UsageFault
from sandscore.base.registry import Registry, TableRow
from sandscore.base.strict_json import MAX_DEPTH, JsonFault, fault_at, loads, locate, pointer
from sandscore.base.whole_files import part_of, write_file
from sandscore.cli.aligned_texts import aligned
from sandscore.remedies.foreign_bytes import no_text


def test_the_clock_of_leases_counts_on_while_the_machine_sleeps() -> None:
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert now <= clock.uptime() < now + 60


def test_without_that_clock_there_is_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME")
    now = time.monotonic()
    assert now <= clock.uptime() < now + 60


def test_moments_are_written_in_utc() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moment = datetime.datetime(2026, 3, 1, 11, 30, 0, 7, zone)
    assert clock.written(moment) == "2026-03-01T09:30:00Z"
    assert clock.stamped(moment) == "2026-03-01T09:30:00.000007Z"
    assert clock.read(clock.stamped(moment)) == moment


def test_waiting_doubles_up_to_a_quarter_of_an_hour() -> None:
    assert [clock.wait_after(failures) for failures in (1, 2, 3, 8, 9, 10_000)] == [5, 10, 20, 640, 900, 900]
    assert clock.wait_after(2, 0.5) == 1


def test_a_process_is_there_until_it_is_gone() -> None:
    assert process_identity.fate(process_identity.own_name()) is True
    assert not process_identity.gone(process_identity.own_name())
    place, _, _ = process_identity.own_name().rpartition("/")
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    assert process_identity.gone(f"{place}/{child.pid}@1")
    assert process_identity.gone(f"{process_identity.own_name()}1"), "another process has its number now"


@pytest.mark.parametrize("owner", ["elsewhere/1@1", "another-boot/pid:[1]/1@1", ""])
def test_a_process_of_another_machine_cannot_be_asked(owner: str) -> None:
    assert process_identity.fate(owner) is None
    assert not process_identity.gone(owner)


def test_what_is_no_process_cannot_be_asked() -> None:
    place = process_identity.own_name().rpartition("/")[0]
    assert process_identity.fate(f"{place}/x@1") is None


def test_a_zombie_is_gone() -> None:
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", ""], os.environ)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    place = process_identity.own_name().rpartition("/")[0]
    began = Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    assert process_identity.gone(f"{place}/{child}@{began}")
    os.waitpid(child, 0)


def test_the_name_of_a_process_says_when_it_began() -> None:
    began = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    assert process_identity.own_name().endswith(f"/{os.getpid()}@{began}")


def test_a_plain_file_is_mapped_and_never_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"[1]")
    with opened(path) as source:
        assert isinstance(source.data, mmap.mmap)
        source.data[1:2] = b"2"
    assert path.read_bytes() == b"[1]"


def test_a_file_that_is_called_like_standard_input_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input may be a plain file that was read in part: what is left of it is the input."""
    path = tmp_path / "in"
    path.write_bytes(b"read before|[1]")
    with io.FileIO(path) as given:
        given.read(12)
        monkeypatch.setattr("sys.stdin", given)
        with opened("-") as source:
            assert bytes(source.data) == b"[1]"


def test_packed_files_and_packed_bytes(tmp_path: Path) -> None:
    packed = gzip.compress(b"[1]")
    (tmp_path / "a.json.gz").write_bytes(packed)
    for given in (tmp_path / "a.json.gz", NamedBytes("a", packed), NamedBytes("a", b"[1]")):
        with opened(given) as source:
            assert bytes(source.data) == b"[1]"
    with pytest.raises(BadStream, match="is not a whole gz file"), opened(NamedBytes("a", packed[:-4])):
        pass
    with pytest.raises(MissingFile, match="is a directory"), opened(tmp_path):
        pass


def refused(text: bytes) -> str:
    with pytest.raises(JsonFault) as raised:
        loads(text)
    return str(raised.value)


def test_strict_json_says_what_it_found_and_where() -> None:
    assert refused(b'{"a": 1').endswith(", found the end")
    assert ', found "x"' in refused(b"[1 x]")
    assert refused(b'[\n {"a": 1, "a": 2}]').startswith("line 2, column 11")
    assert "nested deeper" in refused(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    assert loads(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    assert "lone surrogate" in refused(b'["\\ud800"]')
    assert "too large" in refused(b"[1e999]")
    assert "is not a JSON number" in refused(b"[NaN]")


def test_a_place_counts_characters_and_bytes() -> None:
    fault = fault_at("[\n\u00e9\u00e9x".encode(), 6, "x")
    assert (fault.line, fault.column, fault.offset) == (2, 3, 6)
    assert pointer(["a/b", 0, "~"]) == "/a~1b/0/~0"


def test_a_word_beside_an_object_is_seen() -> None:
    """Keys are those of the innermost object, also after an inner one has ended."""
    assert "duplicate key" in refused(b'{"a": {"b": 1}, "a": 2}')
    assert loads(b'{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}, "a", "a"]}')


def test_bundled_content_is_where_it_is_looked_for() -> None:
    assert schema_path("date").is_file()
    assert (example_gold() / "notes.json").is_file() or any(example_gold().iterdir())
    assert hipaa_map().is_file()
    assert submissions().is_dir()
    assert schema_path("date").is_relative_to(root())


def test_a_spooled_column_grows_and_may_be_empty() -> None:
    spool = Spool()
    assert spool.column("q").tolist() == []
    spool.append(np.array([1, 2]))
    spool.append(np.array([3]))
    assert spool.column("q").tolist() == [1, 2, 3]


def test_a_hidden_name_repeats_the_first_48_characters(tmp_path: Path) -> None:
    with part_of(tmp_path / ("x" * 60)) as part:
        part.write_bytes(b"")
        assert part.name.split(".")[1] == "x" * 48


def test_everybody_may_read_and_write_what_the_mask_lets_them(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_file(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666


@pytest.mark.parametrize("said", ['{"a": "a"}', '{"a": ["a", {"a": 1}], "b": "a"}'])
def test_a_value_that_reads_like_a_key_is_none(said: str) -> None:
    locate(said)


def test_a_key_that_stands_twice_is_one() -> None:
    with pytest.raises(JsonFault, match="duplicate key"):
        locate('{"a": {"b": 1}, "a": 2}')


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        ("abd", "acd", ("abd", "acd", " ^")),
        ("ab", "axb", ("a b", "axb", " ^")),
        ("axb", "ab", ("axb", "a b", " ^")),
    ],
    ids=["changed", "more below", "more above"],
)
def test_texts_stand_under_one_another(first: str, second: str, lines: tuple[str, str, str]) -> None:
    assert aligned(first, second) == lines


def test_control_characters_all_over_are_no_text() -> None:
    """One of fifty is more than a text has; one of a hundred is a slip."""
    said = "this is binary, not text, and of no kind that is known here"
    assert no_text(memoryview(b"\x01" * 3 + b"a" * 97)) == said
    assert no_text(memoryview(b"\x01" + b"a" * 99)) is None
    assert no_text(memoryview(b"plain words")) is None


@pytest.mark.parametrize("target", ["os:getcwd", "pathlib:Path"], ids=["no class", "another class"])
def test_a_row_must_be_a_class_of_its_kind(target: str) -> None:
    rows: Registry[TableRow] = Registry(
        "colour", "sandscore.colours", "sandscore.base.registry:TableRow", {"red": target}
    )
    with pytest.raises(UsageFault, match="'red' is not a class that extends"):
        rows.find("red")
