"""The same files read by the kernel and by the decoder."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.base.removable_rooms import compiled
from sandscore.kernel import compiled_calls, kernel_library
from sandscore.kernel.block_readers import AnnotationReader, KernelBlock
from sandscore.task_table.task import Task


@contextmanager
def spied() -> Iterator[list[int]]:
    """How many annotations the blocks have that the kernel takes."""
    taken: list[int] = []
    read = AnnotationReader.read

    def spy(self: AnnotationReader, data: memoryview, *, lines: bool) -> KernelBlock | None:
        block = read(self, data, lines=lines)
        taken.extend([] if block is None else [sum(block.sizes)])
        return block

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AnnotationReader, "read", spy)
        yield taken


@contextmanager
def no_kernel() -> Iterator[None]:
    """As where there was no compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_library, "kernel", lambda: None)
        compiled.cache_clear()
        try:
            yield
        finally:
            compiled.cache_clear()


def both_ways(folder: Path, task: Task, said: list[Any] | bytes, written: bytes) -> tuple[Loaded, Loaded, list[int]]:
    """Notes and what is said of them read by the kernel, and decoded."""
    (folder / "notes.json").write_bytes(said if isinstance(said, bytes) else json.dumps(said).encode())
    (folder / "found.json").write_bytes(written)
    inputs = Inputs(predictions=folder / "found.json", notes=folder / "notes.json")
    with spied() as taken:
        quick = load_files(task, inputs)
    must_agree(quick, waited(task, inputs), with_texts=False)
    with no_kernel():
        return quick, load_files(task, inputs), taken


def waited(task: Task, inputs: Inputs) -> Loaded:
    """Read as if notes were many, and nobody wanted their texts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_calls, "LEAST_WAITING", 0)
        patch.setattr(compiled_calls, "TIMES", 1 << 40)
        return load_files(task, inputs, want_texts=False)


def must_agree(one: Loaded, other: Loaded, *, with_texts: bool = True) -> None:
    known = [
        (data.roll.ids, data.roll.patients, [*(data.texts or ())] if with_texts else data.texts is None)
        for data in (one.dataset, other.dataset)
    ]
    assert known[0] == known[1]
    assert one.findings["notes"].problems == other.findings["notes"].problems
    if one.findings["notes"].errors:
        return
    assert one.findings["predictions"].problems == other.findings["predictions"].problems
    assert one.findings["predictions"].counts == other.findings["predictions"].counts
    quick, slow = one.columns["predictions"], other.columns["predictions"]
    for name in ("note", "start", "length", "confidence"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(slow, name), name)
    names = [[*loaded.dataset.vocabulary.names, None] for loaded in (one, other)]
    assert [names[0][code] for code in quick.label] == [names[1][code] for code in slow.label]
    assert quick.tokens is not None
    assert slow.tokens is not None
    for name in ("words", "begin", "size"):
        np.testing.assert_array_equal(getattr(quick.tokens, name), getattr(slow.tokens, name), name)
