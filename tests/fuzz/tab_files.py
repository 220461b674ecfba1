"""The Text Anonymization Benchmark's files by the kernel and decoded: right ones, odd ones, damaged ones.

``python -m fuzz.tab_files LIBRARY FIRST COUNT PART`` compares so many with that kernel.
"""

import json
import random
import re
import sys
from ctypes import sizeof
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.hostile import damaged

from sandscore.kernel import kernel_library
from sandscore.original_scores.profile_cards import decoded
from sandscore.profiles.profile import ProfileInput
from sandscore.profiles.tab import kernel_corpus
from sandscore.profiles.tab.masked_corpus import is_corpus
from sandscore.profiles.tab.tab_profile import Tab2022Scorer
from sandscore.task_table.task import find_task

SETTINGS = {parameter.name: parameter.default for parameter in Tab2022Scorer.parameters}
PIECES = (
    *("of", "Of", "Mr", "No", "s", "'s", "’S", "’ſ", "Ann", "a", "İ", "İn", "ſ", "mſ", "mrſ", "in", "ın", "x_1", "é"),
    *("e\u0301", " ", " ", " ", ".", "'", "’", "-", "\n", "—", "(", "😀", "K", "\u0130s", "between", "between_", "①"),
    *("\0", "\u2011", "Ψ", "ß", "²"),
)
KINDS = ("PERSON", "LOC", "CODE", "Ünïque", "")
OTHERS: tuple[Any, ...] = (None, True, -1.5e-3, 10**30, 'x\\"é\n', [], {}, [{"a": [1, {"b": None}]}, "text"])
LAYOUTS: tuple[dict[str, Any], ...] = ({}, {"indent": 1}, {"ensure_ascii": False}, {"separators": (",", ":")})
PART = 4
"""Three files in so many are damaged."""


def offsets(r: random.Random, size: int) -> list[int]:
    return sorted((r.randint(0, size), r.randint(0, size)))


def shuffled(r: random.Random, row: dict[str, Any]) -> dict[str, Any]:
    """Its properties in any order, and some that nobody asks for."""
    if r.random() < 0.3:
        row |= {r.choice(("span_text", "meta", "edit_type", "x")): r.choice(OTHERS)}
    return dict(r.sample([*row.items()], len(row))) if r.random() < 0.3 else row


def mentions(r: random.Random, who: str, text: str) -> dict[str, Any]:
    listed = []
    for _ in range(r.choice((0, 1, 3, 8, 30))):
        start, end = offsets(r, len(text))
        if start < end:
            listed.append(
                {
                    "entity_type": r.choice(KINDS),
                    "entity_id": f"{who}{r.choice('éx')}{r.randint(0, 6)}",
                    "start_offset": start,
                    "end_offset": min(end, start + r.choice((3, 9, 99))),
                    "identifier_type": r.choice(("DIRECT", "QUASI", "NO_MASK")),
                }
            )
    return {"entity_mentions": [shuffled(r, one) for one in listed]}


def masked(r: random.Random, text: str, document: dict[str, Any]) -> list[list[int]]:
    """Around mentions, anywhere, or beyond the text."""
    marks = [one for person in document["annotations"].values() for one in person["entity_mentions"]]
    spans = [[one["start_offset"], one["end_offset"] - (r.random() < 0.2)] for one in marks if r.random() < 0.6]
    spans += [offsets(r, len(text)) for _ in range(r.choice((0, 1, 4)))]
    if r.random() < 0.2:
        spans += [[r.randint(-9, len(text) + 9), r.randint(-9, len(text) + 9)] for _ in range(3)]
    return r.sample(spans, len(spans))


def files(r: random.Random) -> tuple[bytes, bytes]:
    gold, masks = [], {}
    for number in range(r.randint(1, 4)):
        text = "".join(r.choices(PIECES[: r.choice((2, 9, 21, None))], k=r.choice((0, 3, 20, 80))))
        people = {f"a{who}": mentions(r, f"d{number}w{who}", text) for who in range(r.randint(0, 3))}
        name = f"d{0 if r.random() < 0.05 else number}" + r.choice(("", "", "é\n"))
        document = {"doc_id": name, "text": text, "annotations": people, "dataset_type": "test"}
        gold.append(shuffled(r, document))
        if r.random() < 0.8:
            masks[name] = masked(r, text, document)
    return tuple(json.dumps(one, **r.choice(LAYOUTS)).encode() for one in (gold, masks))  # type: ignore[return-value]


def taken(gold: bytes, masks: bytes) -> bool:
    """Whether the kernel took both; AssertionError where who decodes them says anything else."""
    exact = [np.frombuffer(one, np.uint8).copy().data for one in (gold, masks)]
    quick = Tab2022Scorer.evaluate_written(exact[0], exact[1], SETTINGS)
    if quick is None:
        return False
    given = ProfileInput(find_task("phi"), None, decoded(gold), decoded(masks))
    assert is_corpus(given.gold)
    slow = Tab2022Scorer.evaluate(given, SETTINGS)
    assert (quick, json.dumps(quick.details)) == (slow, json.dumps(slow.details))
    return True


def mistyped(r: random.Random, data: bytes) -> bytes:
    """Some digits or letters are others."""
    for _ in range(r.choice((1, 1, 3))):
        found = re.search(rb"[0-9A-Za-z]", data[r.randrange(len(data)) :])
        if found is not None:
            at = len(data) - len(found.string) + found.start()
            data = data[:at] + bytes([r.choice(b"0123456789ane-Q_\\")]) + data[at + 1 :]
    return data


def compare(seed: int) -> int:
    """How many of a right pair, and of damaged ones made of it, the kernel took."""
    r = random.Random(seed)
    gold, masks = files(r)
    pairs = [(gold, masks)]
    for _ in range(PART - 1):
        harm = r.choice((damaged, mistyped))
        pairs.append((harm(r, gold), masks) if r.random() < 0.6 else (gold, harm(r, masks)))
    library = kernel_library.kernel()
    assert library is not None
    library.choose_lanes(r.choice((0, 16, 32)))
    try:
        return sum(taken(*pair) for pair in pairs)
    except Exception as fault:
        raise AssertionError(f"seed {seed}: {fault!r}") from fault
    finally:
        library.choose_lanes(kernel_library.MOST_LANES)


def main(library: str, first: str, count: str, part: str) -> None:
    kernel_library.LIBRARY = Path(library)
    vars(kernel_corpus)["sizeof"] = lambda kind: sizeof(kind) // int(part)
    print(sum(map(compare, range(int(first), int(first) + int(count)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
