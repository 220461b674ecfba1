"""Right and damaged files read by the kernel and by the decoder, in blocks of any size, texts in memory or spooled."""

import random
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from fuzz.kernel import Case
from kernel_comparison import both_ways, must_agree

from sandscore.annotations import json_blocks, note_texts, record_reader
from sandscore.kernel import block_readers
from sandscore.task_table.task import TASKS

SIZES = (1, 300, 3000, json_blocks.BLOCK)


def compare(folder: Path, cases: Iterable[Case], seed: int = 0) -> int:
    """How many annotations the kernel read; AssertionError where the decoder reads a file differently."""
    r, taken = random.Random(seed), 0
    for number, case in enumerate(cases):
        try:
            taken += compare_one(folder, case, r.choice(SIZES), r.choice((0, note_texts.SPILL)))
        except Exception as fault:
            raise AssertionError(f"file {number}: {fault!r}") from fault
    return taken


def compare_one(folder: Path, case: Case, size: int, spill: int) -> int:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("array_blocks", "line_blocks"):
            for module in (record_reader, block_readers):
                patch.setattr(module, name, partial(getattr(json_blocks, name), size=size))
        patch.setattr(note_texts, "SPILL", spill)
        one, other, taken = both_ways(folder, [*TASKS.values()][case.task], case.notes, case.block)
        must_agree(one, other)
        return sum(taken)
