"""Does an annotator always say the same? Once from a fresh start in another order, once asked again and again."""

import json
import random
from collections.abc import Sequence

from sandscore.records.run import Check, Protocol
from sandscore.running.notes import Note

SHUFFLE_SEED = 1


def shuffled(notes: Sequence[Note]) -> list[Note]:
    """The notes in another, always the same, order."""
    order = list(notes)
    random.Random(SHUFFLE_SEED).shuffle(order)  # noqa: S311 (an order, not a secret)
    return order


def repeated(notes: Sequence[Note], protocol: Protocol) -> list[Note]:
    """The last note first, and each twice where one start can be asked twice: what came before must not matter."""
    times = (1, 2) if protocol == "service" else (1,)
    return [note for note in reversed(notes) for _ in times]


def compared(notes: Sequence[Note], expected: Sequence[bytes], asked: Sequence[Note], got: Sequence[bytes]) -> Check:
    """Whether each note was answered as before, whatever the order of its annotations; the first that was not."""
    before = {note.name: _sorted(answer) for note, answer in zip(notes, expected, strict=True)}
    different = {n.name for n, answer in zip(asked, got, strict=True) if _sorted(answer) != before[n.name]}
    first = next((note.name for note in notes if note.name in different), None)
    if first is None:
        return Check(passed=True)
    return Check(passed=False, note=first, detail=f"{len(different)} of {len(notes)} notes were answered differently")


def _sorted(answer: bytes) -> list[str]:
    return sorted(json.dumps(annotation, sort_keys=True) for annotation in json.loads(answer))
