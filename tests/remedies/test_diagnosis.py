"""Files with planted causes are told by their cause and mended to what they were.

The generator knows what it planted and what the file was before; it asks the package nothing. Its notes are the
example's, with accents, emoji and line ends of two characters in some; annotations are the example's gold.
"""

import json
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from struct_values import changeable

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.byte_sources import NamedBytes
from sandscore.remedies.mending import Mender
from sandscore.task_table.task import TASKS

EXAMPLE = Path(__file__).resolve().parents[2] / "gold" / "example"
NOTES = json.loads((EXAMPLE / "notes.json").read_text())
GOLD = {task: json.loads((EXAMPLE / f"{task}.json").read_text()) for task in ("date", "address", "person-name")}
FILES = 300
ARRAY = TASKS["date"].array
Annotation = dict[str, Any]


class Plan(msgspec.Struct):
    """A file as it was, as it is, the notes it is about, and the causes that were planted."""

    task: str
    notes: list[dict[str, str]]
    was: list[dict[str, Any]]
    written: bytes = b""
    causes: tuple[str, ...] = ()
    scope: str = "file"


# ── Notes and annotations as they should be ──


def odd_notes(draw: random.Random, texts: dict[str, str]) -> dict[str, list[tuple[int, int, str]]]:
    """What is put into each note: (place, characters taken away, characters put there), from the end on."""
    edits: dict[str, list[tuple[int, int, str]]] = {}
    for name, text in texts.items():
        kinds = draw.sample(["emoji", "accents", "crlf", "bom"], draw.randint(1, 3))
        made: list[tuple[int, int, str]] = []
        breaks = [at for at, character in enumerate(text) if character == "\n"]
        for kind in kinds:
            if kind == "crlf":
                made += [(at, 1, "\r\n") for at in breaks]
            elif kind == "bom":
                made.append((0, 0, "\ufeff"))
            else:
                word = "🩺😀" if kind == "emoji" else "é ü ñ "
                places = draw.sample(breaks, min(len(breaks), draw.randint(2, 6)))
                made += [(at + 1, 0, word) for at in places]
        edits[name] = sorted(made, reverse=True)
    return edits


def edited(text: str, made: list[tuple[int, int, str]]) -> str:
    for at, taken, put in made:
        text = text[:at] + put + text[at + taken :]
    return text


def moved(place: int, made: list[tuple[int, int, str]]) -> int:
    return place + sum(len(put) - taken for at, taken, put in made if at + taken <= place)


def fresh(draw: random.Random, task: str, records: int, most: int = 1000) -> Plan:
    """Some notes and what is right to say of them."""
    chosen = draw.sample(range(len(NOTES)), records)
    chosen.sort()
    texts = {NOTES[at]["identifier"]: NOTES[at]["text"] for at in chosen}
    edits = odd_notes(draw, texts)
    array = TASKS[task].array
    for at in chosen:  # a vowel here and there has an accent
        name = NOTES[at]["identifier"]
        for one in GOLD[task][at][array]:
            places = range(one["start"], one["start"] + one["length"])
            vowels = [place for place in places if texts[name][place] in "aeiou"]
            edits[name] += [(place, 1, "é") for place in vowels[:1] if draw.random() < 0.5]
        edits[name].sort(reverse=True)
    was = []
    for at in chosen:
        gold, name = GOLD[task][at], NOTES[at]["identifier"]
        text = edited(texts[name], edits[name])
        kept = []
        for one in gold[array][:most]:
            start, end = moved(one["start"], edits[name]), moved(one["start"] + one["length"] - 1, edits[name]) + 1
            kept.append(one | {"start": start, "length": end - start, "text": text[start:end]})
        was.append(gold | {array: [one | {"confidence": draw.randint(2, 100)} for one in kept]})
    notes = [{"identifier": name, "text": edited(text, edits[name])} for name, text in texts.items()]
    return Plan(task, notes, was)


# ── What goes wrong with them ──

Plant = Callable[[random.Random, str, Annotation], Annotation]


def units(text: str, place: int, count: Callable[[str], int]) -> int:
    return sum(count(character) for character in text[:place])


def in_units(count: Callable[[str], int]) -> Plant:
    def plant(draw: random.Random, text: str, one: Annotation) -> Annotation:
        start, end = (units(text, at, count) for at in (one["start"], one["start"] + one["length"]))
        return one | {"start": start, "length": end - start}

    return plant


def crlf_as_one(draw: random.Random, text: str, one: Annotation) -> Annotation:
    before = text[: one["start"]].replace("\r\n", "\n")
    said = one["text"].replace("\r\n", "\n")
    return one | {"start": len(before), "length": len(said), "text": said}


def lf_as_two(draw: random.Random, text: str, one: Annotation) -> Annotation:
    def two(piece: str) -> str:
        return piece.replace("\r\n", "\n").replace("\n", "\r\n")

    said = two(one["text"])
    return one | {"start": len(two(text[: one["start"]])), "length": len(said), "text": said}


def without_bom(draw: random.Random, text: str, one: Annotation) -> Annotation:
    return one | {"start": one["start"] - text.startswith("\ufeff")}


def rewritten(change: Callable[[str], str], *, recount: bool) -> Plant:
    def plant(draw: random.Random, text: str, one: Annotation) -> Annotation:
        said = change(one["text"])
        return one | {"text": said} | ({"length": len(said)} if recount else {})

    return plant


def quoted(text: str) -> str:
    return text.replace("'", "’").replace('"', "”").replace("-", "–")


def widened(text: str, one: Annotation) -> Annotation:
    """With the blank before or after it, where there is one: so that there is something to strip."""
    start, end = one["start"], one["start"] + one["length"]
    start -= start > 0 and text[start - 1].isspace()
    end += end < len(text) and text[end].isspace()
    return one | {"start": start, "length": end - start, "text": text[start:end]}


def scaled(draw: random.Random, text: str, one: Annotation) -> Annotation:
    return one | {"confidence": one["confidence"] / 100}


def shifted(by: int) -> Plant:
    return lambda draw, text, one: one | {"start": one["start"] + by}


PLANTS: dict[str, Callable[[random.Random], Plant]] = {
    "shift": lambda draw: shifted(draw.choice([1, 1, 1, -1, 2, 3, 7, -4, 40, -12, 117])),
    "utf16": lambda draw: in_units(lambda c: 1 + (c > "\uffff")),
    "bytes": lambda draw: in_units(lambda c: len(c.encode())),
    "crlf": lambda draw: draw.choice([crlf_as_one, lf_as_two]),
    "bom": lambda draw: without_bom,
    "end-exclusive": lambda draw: lambda _, text, one: one | {"length": one["start"] + one["length"]},
    "end-inclusive": lambda draw: lambda _, text, one: one | {"length": one["start"] + one["length"] - 1},
    "stripped": lambda draw: rewritten(str.strip, recount=False),
    "case": lambda draw: rewritten(draw.choice([str.lower, str.upper]), recount=draw.random() < 0.5),
    "whitespace": lambda draw: rewritten(
        draw.choice([lambda t: t.replace(" ", "\xa0"), lambda t: " ".join(t.split()), lambda t: "".join(t.split())]),
        recount=draw.random() < 0.5,
    ),
    "normalisation": lambda draw: rewritten(lambda t: unicodedata.normalize("NFD", t), recount=draw.random() < 0.5),
    "quotes": lambda draw: rewritten(quoted, recount=draw.random() < 0.5),
    "swapped-fields": lambda draw: lambda _, text, one: one | {"start": one["length"], "length": one["start"]},
    "confidence-scale": lambda draw: scaled,
}
DOUBLE = (
    ("shift", "confidence-scale"),
    ("utf16", "confidence-scale"),
    ("end-exclusive", "confidence-scale"),
    ("shift", "case"),
    ("utf16", "case"),
    ("end-exclusive", "quotes"),
    ("end-inclusive", "shift"),
)
NEEDS = {"normalisation": "address", "labels": "address", "quotes": "date", "other-note": "date"}


def applied(plan: Plan, draw: random.Random, plants: list[Plant], concerned: set[str]) -> list[dict[str, Any]]:
    """The file after what went wrong, in the notes where it did."""
    array, texts = TASKS[plan.task].array, {note["identifier"]: note["text"] for note in plan.notes}
    made = []
    for record in plan.was:
        name = record["annotationSource"]["resourceSource"]["name"].rpartition("/")[2]
        text, ones = texts[name], record[array]
        first = text.find("\n")
        for plant in plants:
            if name in concerned:
                ones = [
                    plant(draw, text, one) if plan.scope != "tail" or right["start"] > first else one
                    for one, right in zip(ones, record[array], strict=True)
                ]
        made.append(record | {array: ones})
    return made


def same_as_shift(plan: Plan, made: list[dict[str, Any]]) -> bool:
    """Whether what was planted comes to the same as a constant would, so that nobody can tell them apart."""
    array, amounts = TASKS[plan.task].array, set()
    for right, wrong in zip(plan.was, made, strict=True):
        for one, other in zip(right[array], wrong[array], strict=True):
            if one["length"] != other["length"] or one["text"] != other["text"]:
                return False
            amounts.add(other["start"] - one["start"])
    return len(amounts) < 2


def planted(number: int) -> Plan:
    """One file of the three hundred."""
    draw = random.Random(number)
    codes = [*PLANTS, "other-note", "labels"]
    while True:
        double = number % 6 == 5
        causes = DOUBLE[number // 6 % len(DOUBLE)] if double else (codes[number % len(codes)],)
        task = next((NEEDS[code] for code in causes if code in NEEDS), draw.choice(["date", "address"]))
        single = not double and number % 7 == 0 and causes[0] in ("shift", "case", "end-exclusive", "quotes")
        plan = fresh(draw, task, 1 if single else draw.randint(4, 30), 1 if single else draw.choice([3, 1000]))
        plan.causes = causes
        if causes == ("stripped",):
            array, texts = TASKS[task].array, {note["identifier"]: note["text"] for note in plan.notes}
            for record in plan.was:
                name = record["annotationSource"]["resourceSource"]["name"].rpartition("/")[2]
                record[array] = [widened(texts[name], one) for one in record[array]]
        names = [note["identifier"] for note in plan.notes]
        concerned = set(names)
        if not single and causes == ("shift",):
            plan.scope = draw.choice(["file", "tail", "note"])
        if plan.scope == "note":
            concerned = set(draw.sample(names, len(names) // 2))
        if causes == ("other-note",):
            made = exchanged(plan, draw)
        elif causes == ("labels",):
            rename = draw.choice([lambda label: f"B-{label}", lambda label: f"LOCATION/{label.upper()}"])
            made = relabelled(plan, rename)
        elif causes == ("shift",) and plan.scope == "note" and draw.random() < 0.5:
            made = apart(plan, draw, concerned)
        else:
            plants = [PLANTS[code](draw) for code in reversed(causes)]
            made = applied(plan, draw, plants, concerned)
        units_only = causes[0] in ("utf16", "bytes", "crlf", "bom")
        if made == plan.was or any(starts_early(plan, record) for record in made):
            continue
        if units_only and same_as_shift(plan, applied(plan, draw, [PLANTS[causes[0]](draw)], concerned)):
            continue
        if double and not all(tells(plan, draw, code) for code in causes):
            continue
        plan.written = (json.dumps if number % 3 else as_lines)(made).encode()
        return plan


def as_lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def tells(plan: Plan, draw: random.Random, code: str) -> bool:
    names = {note["identifier"] for note in plan.notes}
    return applied(plan, draw, [PLANTS[code](draw)], names) != plan.was


def starts_early(plan: Plan, record: dict[str, Any]) -> bool:
    """No tool says that something stands before the beginning."""
    return any(one["start"] < 0 for one in record[TASKS[plan.task].array])


def exchanged(plan: Plan, draw: random.Random) -> list[dict[str, Any]]:
    array, made = TASKS[plan.task].array, [dict(record) for record in plan.was]
    filled = [at for at, record in enumerate(made) if len(record[array]) > 1]
    chosen = draw.sample(filled, min(len(filled), draw.choice([2, 4, 100])))
    kept = [made[at][array] for at in chosen]
    for place, at in enumerate(chosen):
        made[at][array] = kept[(place + 1) % len(kept)]
    return made


def relabelled(plan: Plan, rename: Callable[[str], str]) -> list[dict[str, Any]]:
    array = TASKS[plan.task].array
    return [
        record | {array: [one | {"addressType": rename(one["addressType"])} for one in record[array]]}
        for record in plan.was
    ]


def apart(plan: Plan, draw: random.Random, concerned: set[str]) -> list[dict[str, Any]]:
    array, made = TASKS[plan.task].array, []
    for record in plan.was:
        name = record["annotationSource"]["resourceSource"]["name"].rpartition("/")[2]
        by = draw.randint(1, 200) if name in concerned and len(record[array]) > 1 else 0
        made.append(record | {array: [one | {"start": one["start"] + by} for one in record[array]]})
    return made


# ── What is said of them ──


class Told(msgspec.Struct):
    plan: Plan
    causes: list[dict[str, Any]]
    mended: bytes


def told(plan: Plan) -> Told:
    task = TASKS[plan.task]
    notes = NamedBytes("notes", json.dumps(plan.notes).encode())
    loaded = load_files(
        task, Inputs(predictions=NamedBytes("p", plan.written), notes=notes), want_tokens=False, want_hashes=False
    )
    found = loaded.findings["predictions"]
    mended = Mender(task, loaded.dataset, found.remedy).mended(plan.written) if found.remedy else b""
    return Told(plan, [one.to_dict() for one in found.diagnosis], mended)


def lists_in(data: bytes, task: str) -> list[str]:
    text = data.decode()
    records = json.loads(text) if text[:1] == "[" else [json.loads(line) for line in text.splitlines()]
    return [json.dumps(record[TASKS[task].array]) for record in records]


@pytest.fixture(scope="module")
def files() -> list[Told]:
    return [told(planted(number)) for number in range(FILES)]


@pytest.mark.slow
def test_all_causes_and_scopes_are_planted(files: list[Told]) -> None:
    assert {cause for one in files for cause in one.plan.causes} == {*PLANTS, "other-note", "labels"}
    assert {one.plan.scope for one in files} == {"file", "tail", "note"}


@pytest.mark.slow
def test_causes_are_named(files: list[Told]) -> None:
    wrong = [one for one in files if {cause["cause"] for cause in one.causes} != {*one.plan.causes}]
    assert len(wrong) <= FILES * 0.02, [(one.plan.causes, one.plan.scope, one.causes) for one in wrong]


@pytest.mark.slow
def test_no_wrong_cause_is_named_for_a_whole_file(files: list[Told]) -> None:
    named = [(one.plan.causes, cause) for one in files for cause in one.causes if cause["scope"] == "file"]
    assert [(causes, cause) for causes, cause in named if cause["cause"] not in causes] == []


@pytest.mark.slow
def test_what_is_mended_is_what_was(files: list[Told]) -> None:
    right = [{*one.plan.causes} == {cause["cause"] for cause in one.causes} for one in files]
    mendable = [one for one, so in zip(files, right, strict=True) if so and all(c["fixable"] for c in one.causes)]
    assert len(mendable) >= FILES * 0.95
    assert [
        (one.plan.causes, one.plan.scope)
        for one in mendable
        if lists_in(one.mended, one.plan.task)
        != [json.dumps(record[TASKS[one.plan.task].array]) for record in one.plan.was]
    ] == []


def test_a_text_that_begins_later_is_shifted_and_not_written_with_other_blanks() -> None:
    """By hand: the character before each text is a line end, which nobody wrote otherwise."""
    was: list[Annotation] = [
        {"start": 3, "length": 11, "text": "22 Jul 1951"},
        {"start": 19, "length": 5, "text": "3 May"},
    ]
    record = {"annotationSource": {"resourceSource": {"name": "n"}}}
    plan = Plan("date", [{"identifier": "n", "text": "On\n22 Jul 1951 and\n3 May"}], [record | {ARRAY: was}])
    plan.written = json.dumps([record | {ARRAY: [one | {"start": one["start"] - 1} for one in was]}]).encode()
    one = told(plan)
    assert one.causes == [{"cause": "shift", "by": 1, "scope": "file", "explains": 2, "of": 2, "fixable": True}]
    assert lists_in(one.mended, "date") == [json.dumps(was)]


def test_what_a_remedy_is_made_of_stays_as_it_is() -> None:
    assert changeable("remedies") == {"FileSpots", "WrittenRecord"}
