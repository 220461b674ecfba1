"""The i2b2 2014 track 1 scorer: strict, relaxed and token sets, HIPAA and binary variants, per category."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from sandscore.annotations.columns import Ints
from sandscore.annotations.input_files import Loaded
from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.measures.measure_syntax import Scalar
from sandscore.profiles.i2b2 import i2b2_report
from sandscore.profiles.i2b2.i2b2_columns import DocumentTags, counts_of
from sandscore.profiles.i2b2.i2b2_sets import EVALUATIONS, SetEvaluation, compare, contents, distinct
from sandscore.profiles.i2b2.i2b2_tags import I2b2Tag, Tagged, is_hipaa, read_tags, tags_of
from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult
from sandscore.task_table.task import Task

_Row = dict[str, tuple[int, int, int]]


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """All forty-two evaluations over the documents that both sides have."""
    gold = read_tags(given.gold, given.task, OrganiserFault)
    system = read_tags(given.predictions, given.task, ParticipantFault)
    texts = None if given.notes is None else {note["identifier"]: note["text"] for note in given.notes}
    return _evaluated(gold, system, texts)


def evaluate_columns(task: Task, loaded: Loaded, _settings: Mapping[str, Scalar]) -> ProfileResult | None:
    """The same of files that were read as columns."""
    gold, system = (tags_of(loaded, role, task) for role in ("gold", "predictions"))
    if gold is None or system is None:
        return None
    return _evaluated(gold, system, dict(zip(loaded.dataset.roll.ids, loaded.dataset.texts or (), strict=True)))


def _evaluated(gold: Tagged, system: Tagged, texts: Mapping[str, str] | None) -> ProfileResult:
    if not system.documents:
        raise ParticipantFault(
            "the original stops here with AssertionError: More than one annotator ID in this set of"
            " Annotations! (it found no document in the predictions)"
        )
    common = dict(_common(texts, gold, system))
    counts = counts_of([*common.values()])
    if counts is None:
        counts = _one_by_one([*common.values()])
    reports = {evaluation: i2b2_report.report(counts[evaluation]) for evaluation in EVALUATIONS}
    return ProfileResult(
        measures={evaluation.measure: _components(made) for evaluation, made in reports.items()},
        per_note=_per_note(texts or (), gold, system, dict(zip(common, _rows(counts), strict=True))),
        details={
            "evaluations": {evaluation.label: _evaluation(made) for evaluation, made in reports.items()},
            "warnings": gold.invalid + system.invalid,
        },
        table="\n".join(i2b2_report.table(evaluation.label, made) for evaluation, made in reports.items()),
        warnings=tuple(_warnings(gold, system)),
    )


def _common(texts: Mapping[str, str] | None, gold: Tagged, system: Tagged) -> Iterator[tuple[str, DocumentTags]]:
    if texts is None:
        raise UsageFault("the i2b2 profile tokenises the notes themselves; give them with --notes")
    for note, tags in gold.documents.items():
        if note in system.documents:
            if note not in texts:
                raise OrganiserFault(f"the notes file has no text for note {note}, which both sides annotate")
            yield note, (tags, system.documents[note], texts[note])


def _one_by_one(documents: Sequence[DocumentTags]) -> Mapping[SetEvaluation, Ints]:
    """The same where offsets are out of the ordinary."""
    sides = [(contents(gold, text), contents(system, text)) for gold, system, text in documents]
    found = {evaluation: [compare(evaluation, *both) for both in sides] for evaluation in EVALUATIONS}
    return {
        evaluation: np.array([(one.tp, one.fp, one.fn) for one in rows], np.int64).reshape(-1, 3)
        for evaluation, rows in found.items()
    }


def _rows(counts: Mapping[SetEvaluation, Ints]) -> Iterator[_Row]:
    """Document by document."""
    measures = [evaluation.measure for evaluation in EVALUATIONS]
    columns = ([(tp, fp, fn) for tp, fp, fn in counts[evaluation].tolist()] for evaluation in EVALUATIONS)
    return (dict(zip(measures, row, strict=True)) for row in zip(*columns, strict=True))


def _evaluation(made: i2b2_report.SetReport) -> dict[str, Any]:
    return _counts(made) | {"docs": made.documents, "micro": made.micro, "macro": made.macro}


def _components(made: i2b2_report.SetReport) -> dict[str, Any]:
    notes = dict.fromkeys(("precision", "recall", "f1"), made.documents)
    return _counts(made) | made.micro | {"macro": made.macro | {"notes": notes}}


def _counts(made: i2b2_report.SetReport) -> dict[str, Any]:
    return {"tp": made.total.tp, "fp": made.total.fp, "fn": made.total.fn}


def _per_note(known: Iterable[str], gold: Tagged, system: Tagged, rows: Mapping[str, _Row]) -> dict[str, _Row]:
    nothing: _Row = dict.fromkeys((evaluation.measure for evaluation in EVALUATIONS), (0, 0, 0))
    return {note: rows.get(note) or {**nothing} for note in dict.fromkeys([*known, *gold.documents, *system.documents])}


def _warnings(gold: Tagged, system: Tagged) -> Iterator[str]:
    for whose, side, other in (("gold", gold, system), ("the predictions", system, gold)):
        if skipped := len(side.documents.keys() - other.documents.keys()):
            yield f"{skipped} notes only in {whose} are skipped: nothing in them counts"
        if side.ignored:
            yield f"{side.ignored} annotations in {whose} have no i2b2 category and are ignored"
        if side.invalid:
            yield f"{side.invalid} tags in {whose} have a TYPE that i2b2 does not know; they count all the same"
        if repeated := _vanishing(side, set):
            yield f"{repeated} tags in {whose} repeat another exactly and count once"
        if close := _vanishing(side, distinct) - repeated:
            yield f"{close} tags in {whose} end within two characters of an earlier one and vanish when relaxed"
        if left_out := sum(_looks_hipaa(tag) for tags in side.documents.values() for tag in tags):
            yield f"{left_out} tags in {whose} are HIPAA PHI by name, but the script's patterns leave them out"
    if empty := sum(not tags and system.documents.get(note) == [] for note, tags in gold.documents.items()):
        yield f"{empty} notes are empty on both sides and count as 0 in every macro figure"


def _vanishing(side: Tagged, kept: Any) -> int:
    return sum(len(tags) - len(kept(tags)) for tags in side.documents.values())


def _looks_hipaa(tag: I2b2Tag) -> bool:
    """HIPAA by the script's manual, were its patterns right: IDNUM, and TYPEs not in capitals."""
    meant = tag.type.upper()
    return not is_hipaa(tag) and (meant == "IDNUM" or is_hipaa(replace(tag, type=meant)))


class I2b2Scorer(OriginalScorer):
    """The i2b2 2014 track 1 scorer: 42 evaluations over tags with category and TYPE, micro and macro."""

    name = "i2b2"
    description = "the i2b2 2014 track 1 scorer: 42 evaluations over tags with category and TYPE, micro and macro"
    source = "i2b2/UTHealth 2014 evaluation script"
    evaluate = staticmethod(evaluate)
    evaluate_columns = staticmethod(evaluate_columns)
