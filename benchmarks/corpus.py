"""A seeded corpus of notes with gold and predictions, for benchmarks: about 20 annotations a note."""

import json
import random
from pathlib import Path
from typing import Any

TYPES = ("city", "country", "department", "hospital", "organization", "other", "room", "state", "street", "zip")
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo al en ir os".split()
PROSE = (
    "seen today for follow up of known heart failure with stable weight and no new oedema lungs are clear on both "
    "sides continue current doses recheck potassium next week call if short of breath return in one month"
).split()


def word(r: random.Random) -> str:
    return "".join(r.choices(SYLLABLES, k=r.randint(2, 4))).title()


def phrase(r: random.Random, kind: str) -> str:
    if kind == "zip":
        return f"{r.randrange(100_000):05d}"
    if kind in ("street", "room"):
        return f"{r.randrange(1, 2000)} {word(r)} {r.choice(('St', 'Road', 'Way'))}"
    return " ".join(word(r) for _ in range(r.choice((1, 1, 2, 3))))


def note(r: random.Random, per_note: int) -> tuple[str, list[dict[str, Any]]]:
    parts: list[str] = []
    gold: list[dict[str, Any]] = []
    size = 0
    for _ in range(max(1, round(r.gauss(per_note, per_note / 5)))):
        between = " ".join(r.choices(PROSE, k=r.randint(15, 30))) + r.choice((": ", ".\n", ", ", "\n"))
        if r.random() < 0.02:
            between += r.choice(("naïve ", "5 µg ", "😀 ", "“ok” "))
        kind = r.choice(TYPES)
        text = phrase(r, kind)
        size += len(between)
        gold.append({"start": size, "length": len(text), "text": text, "addressType": kind, "confidence": 100})
        parts += [between, text]
        size += len(text)
    return "".join(parts) + " end.", gold


def predicted(r: random.Random, text: str, gold: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The gold with every kind of error: missed, wrong label, wrong boundary, repeated, spurious."""
    found = []
    for a in gold:
        fate, sure = r.random(), r.randint(40, 100)
        start, length, kind = a["start"], a["length"], a["addressType"]
        if fate < 0.08:
            continue
        if fate < 0.14:
            kind = r.choice(TYPES)
        elif fate < 0.19:
            length = max(1, length + r.choice((-2, -1, 1, 2)))
        elif fate < 0.22:
            start += 1
        copies = 2 if fate > 0.99 else 1
        found += [entry(text, start, length, kind, sure) for _ in range(copies)]
    for _ in range(r.randint(0, 3)):
        found.append(entry(text, r.randrange(len(text) - 30), r.randint(2, 25), r.choice(TYPES), r.randint(1, 100)))
    return found


def entry(text: str, start: int, length: int, kind: str, sure: int) -> dict[str, Any]:
    return {
        "start": start,
        "length": length,
        "text": text[start : start + length],
        "addressType": kind,
        "confidence": sure,
    }


def write(folder: Path, notes: int, per_note: int = 20, seed: int = 1, *, other: bool = False) -> dict[str, Path]:
    """Three files, compact as a program would write them; ``other``: as another one would, whose habits are worse."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {role: folder / f"{role}.json" for role in ("notes", "gold", "predictions")}
    r = random.Random(seed)
    rows: dict[str, list[str]] = {role: [] for role in files}
    for number in range(notes):
        text, gold = note(r, per_note)
        said = {"identifier": f"n{number:06d}", "patientId": f"p{number // 4}", "text": text}
        rows["notes"].append(otherwise(said) if other else compact(said))
        for role, found in (("gold", gold), ("predictions", predicted(r, text, gold))):
            name = f"dataset/bench/fhirStores/evaluation/fhir/Note/n{number:06d}"
            source = {"resourceSource": {"name": name}}
            record = {"annotationSource": source, "textPhysicalAddressAnnotations": found}
            rows[role].append(unsure(r, record) if other and role == "predictions" else compact(record))
    for role, path in files.items():
        path.write_text("[" + ",".join(rows[role]) + "]", encoding="utf-8")
    return files


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def otherwise(value: Any) -> str:
    """Spaced, in ASCII, properties in the order of the alphabet."""
    return json.dumps(value, sort_keys=True)


def unsure(r: random.Random, record: dict[str, Any]) -> str:
    """Predictions in any order, with all the digits that a confidence can have."""
    found = [row | {"confidence": r.random() * 100} for row in record["textPhysicalAddressAnnotations"]]
    r.shuffle(found)
    return otherwise(record | {"textPhysicalAddressAnnotations": found})
