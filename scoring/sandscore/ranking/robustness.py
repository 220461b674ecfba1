"""Robustness of a score: the same annotator on perturbed copies of the notes, beside the notes themselves.

The same patients stand on both sides, so the differences are paired; their intervals hold for all copies of a card
together. They are shown beside the score and never part of it.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints
from sandscore.base.errors import OrganiserFault
from sandscore.ranking.card_reading import formula_of, is_ranked, rows_of
from sandscore.ranking.resampling import seed_of
from sandscore.ranking.simultaneous import RESAMPLES, group_intervals
from sandscore.records.formula import F1, parse_formula
from sandscore.records.group_scores import CopyRecord, PairedScore, PerturbedScores
from sandscore.records.record_reading import file_content, read_record
from sandscore.records.scorecard import Scorecard

CHANGES, NOTES = "changes.json", "notes.json"
_SHOWN_OF_HASH = 12


class NotesCopy(Struct, frozen=True):
    """A folder that ``perturb`` wrote, read and checked: its files are those of its record."""

    folder: Path
    record: CopyRecord
    sha256: str

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def notes(self) -> Path:
        return self.folder / NOTES

    def gold(self, task: str) -> Path:
        return self.folder / f"{task}.json"


class CopyResult(Struct, frozen=True):
    """The card on a copy, or why there is none."""

    copy: NotesCopy
    card: Scorecard | None
    reason: str | None = None


def source_of(folder: Path) -> str | None:
    """SHA-256 of the notes that the copy in a folder was made of."""
    return _record_in(folder)[0].sources.get(NOTES)


def _record_in(folder: Path) -> tuple[CopyRecord, str]:
    """The record and its SHA-256."""
    content = file_content(folder / CHANGES)
    record = read_record(CopyRecord, content, folder / CHANGES, "the record of a perturbed copy", OrganiserFault)
    return record, hashlib.sha256(content).hexdigest()


def read_copy(folder: Path, task: str, notes: Path, gold: Path) -> NotesCopy:
    """The copy in a folder, which must be one of these notes and this gold, and as it was written."""
    record, digest = _record_in(folder)
    ours = {NOTES: notes, f"{task}.json": gold}
    for name, file in ours.items():
        if record.sources.get(name) != _sha256(file):
            raise OrganiserFault(f"{folder} is no copy of {file}: {CHANGES} names another {name}")
        if record.copies.get(name) != _sha256(folder / name):
            raise OrganiserFault(f"{folder / name} is not what {CHANGES} says: it was changed since it was proven")
    return NotesCopy(folder, record, digest[:_SHOWN_OF_HASH])


def _sha256(file: Path) -> str:
    return hashlib.sha256(file_content(file)).hexdigest()


def with_robustness(card: Scorecard, results: Sequence[CopyResult]) -> Scorecard:
    """The card with a row for each copy."""
    if not results:
        return card
    gold = next((part for part in card.signature.split("|") if part.startswith("gold:")), "")
    seed = seed_of("robustness", "", gold, ",".join(one.copy.sha256 for one in results))
    scored = [one for one in results if one.card is not None]
    measures = _measures(card, [one.card for one in scored if one.card is not None], seed)
    at = {one.copy.name: number for number, one in enumerate(scored)}
    rows = {
        one.copy.name: PerturbedScores(
            changes=tuple(f"{told.name} {told.value}".strip() for told in one.copy.record.perturbations),
            seed=one.copy.record.seed,
            record=one.copy.sha256,
            drawn=f"0x{seed:016x}",
            resamples=RESAMPLES,
            reason=one.reason,
            measures={} if one.card is None else {name: row[at[one.copy.name]] for name, row in measures.items()},
        )
        for one in results
    }
    return card.model_copy(update={"robustness": rows})


def _measures(card: Scorecard, copies: Sequence[Scorecard], seed: int) -> dict[str, list[PairedScore]]:
    """By measure a score for each copy."""
    found: dict[str, list[PairedScore]] = {}
    for name in card.measures if copies else ():
        pairs = [_by_patient(one, name, card) for one in (*copies, card)]
        rows = [row for row in pairs if row is not None]
        if len(rows) < len(pairs) or not all((row[:, 0] <= row[:, 1]).all() for row in rows):
            continue
        n, of = (np.stack([row[:, at] for row in rows]) for at in (0, 1))
        told = group_intervals(n, of, seed, paired=True)
        original = int(n[-1].sum()) / int(of[-1].sum()) if of[-1].any() else None
        found[name] = [PairedScore(value=g.value, original=original, difference=g.gap, ci=g.gap_ci) for g in told]
    return found


def _by_patient(scored: Scorecard, name: str, original: Scorecard) -> Ints | None:
    """n and of, a row a patient in the order of the original; None where the measure is no share of whole numbers."""
    score = scored.measures.get(name)
    if score is None or score.reason is not None or not is_ranked(score):
        return None
    formula = formula_of(score) or parse_formula(F1)
    if formula.kind == "sum":
        return None
    numbers: dict[str, int] = {}
    for unit in original.units.values():
        numbers.setdefault(unit, len(numbers))
    rows = np.zeros((len(numbers), 2), np.int64)
    for unit, row in rows_of(scored, name):
        rows[numbers[unit]] += formula.quotient(dict(zip(formula.components, row, strict=True)))
    return rows
