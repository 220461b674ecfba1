"""Every leak of every task against Python's sets of positions; order, repeats, splits and joins change nothing."""

from typing import Any

import pytest
from corpora import corpora
from example_numbers import up_to
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scoring_helpers import card_of

from sandscore.records.scorecard import RatioScore, Scorecard
from sandscore.task_table.task import TASKS

Note = dict[str, Any]
Share = tuple[int, int]
ASKED = (
    *(f"{name}{unit}" for name in ("char_leak", "mention_leak") for unit in ("", "(unit=content)")),
    *("mention_leak(part=full)", "note_leak", "patient_leak", "entity_leak(by=text)", "char_precision", "over_mask"),
    *("over_mask_words", "clean_notes_touched", "char_f", "char_leak(unit=graphemes)", "over_mask(unit=graphemes)"),
)
SLOWLY = settings(max_examples=up_to(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def positions(annotations: list[dict[str, Any]]) -> set[int]:
    return {at for a in annotations for at in range(a["start"], a["start"] + a["length"])}


def content(text: str) -> set[int]:
    """Of the letters that corpora are made of: a, b and é are content; blanks and the face are not."""
    return {at for at, letter in enumerate(text) if letter in "abé"}


def mentions(note: Note) -> list[dict[str, Any]]:
    """Each once."""
    return [*{(a["start"], a["length"], a["label"]): a for a in note["gold"]}.values()]


def added(rows: list[Share]) -> Share:
    return sum(n for n, _ in rows), sum(of for _, of in rows)


def by_sets(notes: list[Note]) -> dict[str, Share]:
    """All of it, written from the definitions."""
    found: dict[str, list[Share]] = {name: [] for name in ASKED}
    patients: dict[str, list[bool]] = {}
    entities: dict[Any, bool] = {}
    for number, note in enumerate(notes):
        gold, masks, text = positions(note["gold"]), positions(note["predictions"]), set(range(len(note["text"])))
        kept = content(note["text"])
        found["char_leak"].append((len(gold - masks), len(gold)))
        found["char_leak(unit=content)"].append((len((gold - masks) & kept), len(gold & kept)))
        extents = [positions([a]) for a in mentions(note)]
        found["mention_leak"] += [(bool(one - masks), 1) for one in extents]
        found["mention_leak(unit=content)"] += [(bool((one - masks) & kept), 1) for one in extents if one & kept]
        found["mention_leak(part=full)"] += [(not one & masks, 1) for one in extents]
        found["note_leak"].append((bool(gold - masks), bool(gold)))
        found["char_precision"].append((len(gold & masks), len(masks)))
        found["over_mask"].append((len(masks - gold), len(text - gold)))
        words, word = list[set[int]](), set[int]()
        for at, letter in enumerate(note["text"] + " "):
            if letter.isspace():
                words += [word] if word else []
                word = set()
            else:
                word = word | {at}
        found["over_mask_words"] += [(bool(one & masks), 1) for one in words if not one & gold]
        found["clean_notes_touched"].append((bool(not gold and masks), not gold))
        for mention in mentions(note) if gold else ():
            open_ = bool(positions([mention]) - masks)
            key = number // 2, mention["label"], " ".join(mention["text"].casefold().split())
            entities[key] = entities.get(key, False) or open_
            patients.setdefault(f"p{number // 2}", []).append(open_)
    # no letter of these corpora clings to another: a grapheme is a code point
    found["char_leak(unit=graphemes)"], found["over_mask(unit=graphemes)"] = found["char_leak"], found["over_mask"]
    found["patient_leak"] = [(any(one), 1) for one in patients.values()]
    found["entity_leak(by=text)"] = [(one, 1) for one in entities.values()]
    return {name: added(rows) for name, rows in found.items() if name != "char_f"}


def shares(card: Scorecard) -> dict[str, Share]:
    """What stands on the card, which rows of notes or patients add up to."""
    found = {}
    for name, score in card.measures.items():
        if isinstance(score, RatioScore):
            rows = [row[name] for table in (card.per_note, card.per_unit) for row in table.values() if name in row]
            assert added([(n, of) for n, of in rows]) == (score.n, score.of)
            found[name] = score.n, score.of
    return found


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@SLOWLY
@given(data=st.data())
def test_every_task_by_sets(task: Any, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    card = card_of(task, notes, ASKED)
    expected = by_sets(notes)
    assert shares(card) == expected
    f2, (fn, _), (tp, masked) = card.measures["char_f"], expected["char_leak"], expected["char_precision"]
    assert (f2.tp, f2.fp, f2.fn) == (tp, masked - tp, fn)
    whole = 5 * tp + 4 * fn + masked - tp
    assert f2.ranked == (5 * tp / whole if whole else None)
    labels = {a["label"] for n in notes for a in n["gold"]} - {None}
    for label in labels:
        only = [note | {"gold": [a for a in note["gold"] if a["label"] == label]} for note in notes]
        told = by_sets(only)
        for name in ("char_leak", "mention_leak", "note_leak", "patient_leak", "entity_leak(by=text)"):
            row = card.per_label[label][name]
            assert (row["n"], row["of"]) == told[name], (label, name)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@SLOWLY
@given(data=st.data())
def test_how_masks_are_written_changes_nothing(task: Any, data: st.DataObject) -> None:
    """Turned round, repeated, cut into single characters."""
    notes = data.draw(corpora(task))

    def single(note: Note) -> list[dict[str, Any]]:
        cut: list[dict[str, Any]] = [
            a | {"start": a["start"] + at, "length": 1, "text": a["text"][at]}
            for a in reversed(note["predictions"])
            for at in range(a["length"])
        ]
        return [*cut, *note["predictions"]]

    other = [note | {"predictions": single(note), "gold": note["gold"][::-1] + note["gold"]} for note in notes]
    first, second = card_of(task, notes, ASKED), card_of(task, other, ASKED)
    assert shares(first) == shares(second)
    assert first.measures["char_f"].ranked == second.measures["char_f"].ranked
