"""Bounds and usual values of what organisers write and of runs, as docs/containers.md and docs/organisers.md say."""

from typing import Any

import pytest
from pydantic import ValidationError

from sandscore.records.challenge import Quota
from sandscore.records.run_record import RunLimits

USUAL = RunLimits()


def test_usual_limits_of_a_run() -> None:
    assert (USUAL.memory_bytes, USUAL.cpus, USUAL.processes, USUAL.open_files) == (2 << 30, 1.0, 256, 4096)
    assert (USUAL.tmp_bytes, USUAL.tmp_files, USUAL.shared_memory_bytes) == (256 << 20, 50_000, 64 << 20)
    assert (USUAL.image_bytes, USUAL.log_bytes, USUAL.output_bytes) == (10 << 30, 4 << 20, 32 << 20)
    assert (USUAL.user, USUAL.hardening, USUAL.tmp_executable) == ("20001:20001", "strict", False)
    assert (USUAL.ready_seconds, USUAL.note_seconds, USUAL.total_seconds) == (120, 10, 3600)


@pytest.mark.parametrize(
    ("name", "least"),
    [("memory_bytes", 6 << 20), ("processes", 1), ("open_files", 16), ("tmp_bytes", 4096), ("tmp_files", 1),
     ("shared_memory_bytes", 4096), ("image_bytes", 1), ("log_bytes", 1), ("log_kept_bytes", 0), ("output_bytes", 1),
     ("reply_bytes", 1), ("reply_parts", 1)],
)  # fmt: skip
def test_the_least_of_each_limit(name: str, least: int) -> None:
    assert getattr(RunLimits.model_validate({name: least}), name) == least
    with pytest.raises(ValidationError):
        RunLimits.model_validate({name: least - 1})


@pytest.mark.parametrize("name", ["cpus", "ready_seconds", "note_seconds", "total_seconds"])
def test_some_time_and_power_there_must_be(name: str) -> None:
    assert getattr(RunLimits.model_validate({name: 0.5}), name) == 0.5
    with pytest.raises(ValidationError):
        RunLimits.model_validate({name: 0})


def test_limits_that_grow_with_the_note() -> None:
    limits = RunLimits(note_seconds=2, note_seconds_per_1000_characters=1, reply_parts=3, reply_parts_per_character=0.5)
    assert (limits.note_time(500), limits.reply_part_count(5)) == (2.5, 5)
    assert RunLimits(output_bytes=1, output_bytes_per_character=2).output_size(3) == 7
    assert RunLimits(reply_bytes=1, reply_bytes_per_character=2, reply_bytes_most=6).reply_size(3) == 6


def test_a_quota_may_be_nothing_at_all() -> None:
    nothing: dict[str, Any] = {"day": 0, "week": 0, "total": 0}
    assert Quota(**nothing).model_dump() == {**nothing, "failures": None}
    for name in nothing:
        assert Quota.model_validate({name: 1_000_000_000})
        for wrong in (-1, 1_000_000_001):
            with pytest.raises(ValidationError):
                Quota.model_validate({name: wrong})
