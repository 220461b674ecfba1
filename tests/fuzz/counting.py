"""The kernel's counts beside those of the columns: random notes in which spans collide, repeat and overlap.

``python -m fuzz.counting LIBRARY FIRST COUNT`` compares data sets, of fifty notes each, with that kernel.
"""

import math
import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from ctypes import sizeof
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from kernel_comparison import no_kernel

from sandscore.annotations.columns import Columns, Tokens, small_of
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.input_files import Loaded
from sandscore.annotations.label_codes import vocabulary
from sandscore.annotations.note_texts import GatheredTexts
from sandscore.kernel import kernel_counts, kernel_library
from sandscore.leaks.identifier_classes import CLASSES, TaskClasses
from sandscore.leaks.leak_totals import LeakQuestion, leak_plans, leak_question
from sandscore.measures.challenge_measures import ratio_sums
from sandscore.measures.dataset_counts import DataSetCounts, measured
from sandscore.measures.hipaa_map import HipaaMap
from sandscore.measures.measure_registry import MEASURES, measures_for
from sandscore.measures.measure_syntax import parse
from sandscore.ranking import resampling
from sandscore.task_table.task import TASKS, Task

HOOK = Path(__file__).parents[2] / "hatch_build.py"

RELAXED = tuple(f"instance_relax(relax={relax})" for relax in (0, 1, 5, 1000))
OPEN = (
    *("char_leak", "mention_leak", "mention_leak(part=full)", "note_leak", "patient_leak", "char_precision", "char_f"),
    *(
        "over_mask",
        "clean_notes_touched",
        "char_leak(class=direct)",
        "note_leak(class=quasi)",
        "patient_leak(class=none)",
    ),
    *("entity_leak", "patient_leak(quasi=2)", "char_leak(unit=content)"),
)
SURE: tuple[tuple[float, ...], ...] = ((100.0,), (0.0, -0.0, 7.0, 100.0), (0.5, 1.0, 1.5, 99.99999999999999), ())
COUNT = kernel_counts.KernelCounts.count
WORD = re.compile("[^ ]+")
SIZES = (0, 0, 1, 2, 3, 6, 12, 30, 80)
FAR = (0, (1 << 25) - 1000, 1 << 30)
"""Where notes' annotations begin, as nobody looks at a text: beyond some place they are sorted another way."""
LONG = 400
"""One note in so many has hundreds of annotations, which are sorted another way."""


Said = tuple[str, list[tuple[Any, ...]]]
"""A text, and the start, length, label and confidence of each annotation."""


def notes_of(r: random.Random, count: int) -> Iterator[tuple[str, list[list[tuple[Any, ...]]]]]:
    """A text, and of either side the start, length, label and confidence of each annotation."""
    for _ in range(count):
        most = r.choice((300, 700)) if r.randrange(LONG) == 0 else r.choice(SIZES)
        room, longest, sure = r.choice((3, 12, 60, 2000)), r.choice((1, 3, 9, 40)), r.choice(SURE)
        text = "".join(r.choices("ab ", k=room + longest))
        labels = r.choice(((0,), (0, 1), (-1, 0, 1), (-1,), (-1, 0, 1, 2, 3)))

        def one(sure: tuple[float, ...] = sure, room: int = room, labels: Any = labels, longest: int = longest) -> Any:
            level = r.choice(sure) if sure else r.random() * 100
            return r.randrange(room), r.randint(1, longest), r.choice(labels), level

        gold = [one() for _ in range(r.randint(0, most))]
        kept = [(*row[:3], one()[3]) for row in gold if r.random() < 0.7]
        yield text, [gold, [one() if r.random() < 0.2 else row for row in kept] + [one() for _ in range(most // 4)]]


def columns_of(
    r: random.Random, notes: list[tuple[str, list[tuple[Any, ...]]]], labels: int, *, sorted_too: bool
) -> Columns:
    """Notes in any order, some of them in two entries."""
    entries = [(number, text, rows) for number, (text, rows) in enumerate(notes)]
    if not sorted_too:
        entries = [
            (number, text, part)
            for number, text, rows in entries
            for part in ((rows[: len(rows) // 2], rows[len(rows) // 2 :]) if r.random() < 0.1 else (rows,))
        ]
        r.shuffle(entries)
    note, start, length, label, confidence, words, begin, size = ([] for _ in range(8))
    for number, text, rows in entries:
        for at, long, code, level in sorted(rows) if sorted_too else rows:
            spelt = [(word.start(), len(word[0])) for word in WORD.finditer(text[at : at + long])]
            note.append(number)
            start.append(at)
            length.append(long)
            label.append(min(code, labels - 1))
            confidence.append(level)
            words.append(len(spelt))
            begin += [first for first, _ in spelt]
            size += [long for _, long in spelt]
    tokens = Tokens(small_of(words), small_of(begin), small_of(size))
    sure = np.array(confidence, np.float64)
    return Columns(small_of(note), small_of(start), small_of(length), small_of(label), sure, tokens=tokens)


def loaded(seed: int, count: int = 50) -> tuple[Task, Loaded, HipaaMap | None, list[Any]]:
    """A data set with gold and predictions, a task, and measures."""
    r = random.Random(seed)
    task = r.choice([*TASKS.values()])
    notes = [*notes_of(r, count)]
    names = vocabulary(task, task.label)
    names.learn([] if names.names or not task.label else ["YYYY", "MM", "DD", "MM/DD/YYYY"])
    texts = GatheredTexts(sum(len(text) for text, _ in notes))
    texts.add([text for text, _ in notes])
    dataset = DataSet(names, growing=False, texts=texts.all())
    dataset.extend([f"n{number}" for number in range(count)], [f"p{number // 3}" for number in range(count)])
    labels = len(names.names) if task.label else 0
    columns = {
        role: columns_of(r, [(text, sides[side]) for text, sides in notes], labels, sorted_too=r.random() < 0.5)
        for side, role in enumerate(("gold", "predictions"))
    }
    if r.random() < 0.05 and len(columns["predictions"]):
        columns["predictions"].confidence[r.randrange(len(columns["predictions"]))] = math.nan
    hipaa = HipaaMap("", {name: r.random() < 0.7 for name in names.names}, b"") if task.hipaa else None
    asked = measures_for(task, r.sample(RELAXED, r.randrange(3)))
    return task, Loaded(dataset, columns, {}, {}), hipaa, asked


def leaks_of(seed: int, files: Loaded) -> LeakQuestion | None:
    """Measures of leaks, of labels in any classes; sometimes of entities, so that an equal span may be two mentions."""
    r = random.Random(-seed)
    asked = [parse(name, MEASURES.find) for name in r.sample(OPEN[: r.choice((-3, None))], r.randrange(6))]
    gold = files.columns["gold"]
    if any(one.name == "entity_leak" or "quasi" in dict(one.settings) for one in asked) or r.random() < 0.2:
        files.columns["gold"] = gold.replace(entity=small_of([r.randrange(9) for _ in range(len(gold))]))
    names = files.dataset.vocabulary.names
    rules = TaskClasses({"any": {name: r.choice(CLASSES) for name in (*names, "*")}})
    return leak_question(leak_plans(asked, files), files, rules) if asked else None


def same(quick: DataSetCounts, slow: DataSetCounts) -> None:
    for one, other in zip(quick.counted, slow.counted, strict=True):
        assert (one.measure, one.conditional, one.reason) == (other.measure, other.conditional, other.reason)
        np.testing.assert_array_equal(one.per_note, other.per_note, str(one.measure))
        assert ratio_sums(one.held["per_note"]) == ratio_sums(other.per_note), one.measure
        assert (one.per_label is None) == (other.per_label is None), one.measure
        if one.per_label is not None and other.per_label is not None:
            np.testing.assert_array_equal(one.per_label, other.per_label, f"{one.measure} by label")
    assert (quick.errors, quick.note_leak) == (slow.errors, slow.note_leak)
    assert quick.confidence == slow.confidence
    for leak, told in zip(quick.leaks, slow.leaks, strict=True):
        shown = leak.plan.shown
        for name in ("rows", "labels", "classes"):
            np.testing.assert_equal(getattr(leak, name), getattr(told, name), f"{shown}: {name}")
        np.testing.assert_equal(leak.patients, told.patients, shown)
        np.testing.assert_equal(leak.label_patients, told.label_patients, shown)


def compare(seed: int) -> int:
    """How many notes were counted alike; AssertionError where any count differs."""
    task, files, hipaa, asked = loaded(seed)
    leaks = leaks_of(seed, files)
    if leaks is None:
        for role, columns in files.columns.items():
            files.columns[role] = columns.replace(start=columns.start + np.int32(FAR[seed % len(FAR)]))
    counted = []

    def spy(self: kernel_counts.KernelCounts, first: int, last: int) -> Any:
        found = COUNT(self, first, last)
        counted.append(0 if found is None else last - first)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_counts, "KERNEL_PART", 1 << (seed % 12))
        patch.setattr(kernel_counts, "SPILL", 0)
        patch.setattr(kernel_counts.KernelCounts, "count", spy)
        quick = measured(task, files, asked, hipaa, leaks=leaks)
    with no_kernel():
        slow = measured(task, files, asked, hipaa, leaks=leaks)
    try:
        same(quick, slow)
    except AssertionError as fault:
        raise AssertionError(f"seed {seed}, {task.id}: {fault}") from fault
    return sum(counted)


def drawn_alike(seed: int) -> None:
    """Patients are drawn as without a kernel."""
    r = random.Random(seed)
    sizes = [r.choice((1, 63, 64, 65, 66, 67, 500)) for _ in range(r.randint(1, 4))]
    for dtype in (np.float32, np.float64):
        quick = [part for _, part in resampling.weights(seed, sizes, 30, dtype, r.choice((1, 7, 30)))]
        with no_kernel():
            slow = [part for _, part in resampling.weights(seed, sizes, 30, dtype, 30)]
        np.testing.assert_array_equal(np.concatenate(quick), np.concatenate(slow), f"seed {seed}")


def sanitized(folder: Path) -> Path:
    """The kernel as a library that checks itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CFLAGS", "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all")
        found = run_path(str(HOOK))["compile_kernel"](str(folder))
    assert isinstance(found, Path)
    alone = folder / "checked"
    alone.mkdir()
    return found.rename(alone / found.name)


def compared(library: Path, first: int, count: int, part: int = 1, module: str = "fuzz.counting") -> int:
    """How many notes a sanitized kernel counted alike in a process of its own; ``part``: in rooms so much smaller.

    ``module`` is what compares: this one, or another that takes the same words.
    """
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    names = [
        subprocess.run([*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
        for name in ("libasan.so", "libubsan.so")
    ]
    variables = {"LD_PRELOAD": " ".join(map(str.strip, names)), "ASAN_OPTIONS": "detect_leaks=0"}
    variables["PYTHONMALLOC"] = "malloc"  # small rooms, too, have guarded borders
    words = [sys.executable, "-m", module, *map(str, (library, first, count, part))]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=os.environ | variables, cwd=Path(__file__).parents[1]
    )
    assert done.returncode == 0, f"{done.stderr[:2000]} … {done.stderr[-2000:]}"
    return int(done.stdout)


def main(library: str, first: str, count: str, part: str) -> None:
    kernel_library.LIBRARY = Path(library)
    vars(kernel_counts)["sizeof"] = lambda kind: sizeof(kind) // int(part)
    seeds = range(int(first), int(first) + int(count))
    for seed in seeds:
        drawn_alike(seed)
    print(sum(map(compare, seeds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
