"""Robustness of a score: the same annotator on perturbed copies of the notes, beside the notes themselves.

The same patients stand on both sides, so the differences are paired; their intervals hold for all copies of a card
together. They are shown beside the score and never part of it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints
from sandscore.base.errors import OrganiserFault
from sandscore.ranking.resampling import seed_of
from sandscore.records.group_scores import PairedScore, PerturbedScores
from sandscore.records.record_reading import file_content, read_record
from sandscore.records.scorecard import Scorecard
from sandscore.slices.patient_shares import rows_by_patient, shares_by_patient, table_by_patient
from sandscore.slices.simultaneous import RESAMPLES, group_intervals
from sandscore.slices.slice_files import CopyRecord

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
    scored = {one.copy.name: one.card for one in results if one.card is not None}
    shared = {name: [shares_by_patient(one, name, card) for one in scored.values()] for name in card.measures}
    kept = {name: [table for table in tables if table is not None] for name, tables in shared.items()}
    tables = {name: some for name, some in kept.items() if scored and len(some) == len(scored)}
    measures = _measures(card, tables, seed)
    at = {name: number for number, name in enumerate(scored)}
    rows = {
        one.copy.name: PerturbedScores(
            changes=tuple(f"{told.name} {told.value}".strip() for told in one.copy.record.perturbations),
            seed=one.copy.record.seed,
            record=one.copy.sha256,
            drawn=f"0x{seed:016x}",
            resamples=RESAMPLES,
            reason=one.reason,
            measures={} if one.card is None else {name: row[at[one.copy.name]] for name, row in measures.items()},
            per_unit={}
            if one.card is None
            else rows_by_patient(card, {name: tables[name][at[one.copy.name]] for name in measures}),
        )
        for one in results
    }
    return card.model_copy(update={"robustness": rows})


def robustness_again(card: Scorecard) -> dict[str, PerturbedScores] | None:
    """The rows of a card, made from its counts by patient; None where it has none of these."""
    scored = {name: one for name, one in card.robustness.items() if one.reason is None}
    if any(not one.per_unit for one in scored.values() if one.measures):
        return None
    names = next(iter(scored.values())).measures if scored else {}
    tables = {name: [table_by_patient(card, one.per_unit, name) for one in scored.values()] for name in names}
    drawn = next((one.drawn for one in scored.values()), "0x0")
    measures = _measures(card, tables, int(drawn, 16))
    made = {
        name: one.model_copy(update={"measures": {measure: row[at] for measure, row in measures.items()}})
        for at, (name, one) in enumerate(scored.items())
    }
    return {name: made.get(name, one) for name, one in card.robustness.items()}


def _measures(card: Scorecard, copies: Mapping[str, Sequence[Ints]], seed: int) -> dict[str, list[PairedScore]]:
    """By measure a score for each copy, of which there is a table of patients."""
    found: dict[str, list[PairedScore]] = {}
    for name, tables in copies.items():
        original = shares_by_patient(card, name, card)
        if original is None:
            continue
        n, of = (np.stack([row[:, at] for row in (*tables, original)]) for at in (0, 1))
        told = group_intervals(n, of, seed, paired=True)
        score = int(n[-1].sum()) / int(of[-1].sum()) if of[-1].any() else None
        found[name] = [PairedScore(value=g.value, original=score, difference=g.gap, ci=g.gap_ci) for g in told]
    return found
