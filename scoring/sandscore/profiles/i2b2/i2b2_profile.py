"""The i2b2 2014 track 1 scorer: strict, relaxed and token sets, HIPAA and binary variants, per category."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.measures.measure_syntax import Scalar
from sandscore.profiles.i2b2 import i2b2_report
from sandscore.profiles.i2b2.i2b2_sets import EVALUATIONS, Contents, SetEvaluation, compare, contents, distinct
from sandscore.profiles.i2b2.i2b2_tags import I2b2Tag, Tagged, is_hipaa, read_tags
from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult
from sandscore.records.counts import Counts

_Rows = dict[str, dict[SetEvaluation, Counts]]


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """All forty-two evaluations over the documents that both sides have."""
    gold = read_tags(given.gold, given.task, OrganiserFault)
    system = read_tags(given.predictions, given.task, ParticipantFault)
    if not system.documents:
        raise ParticipantFault(
            "the original stops here with AssertionError: More than one annotator ID in this set of"
            " Annotations! (it found no document in the predictions)"
        )
    rows = {
        note: {evaluation: compare(evaluation, *both) for evaluation in EVALUATIONS}
        for note, both in _common(given, gold, system)
    }
    reports = {evaluation: i2b2_report.report([row[evaluation] for row in rows.values()]) for evaluation in EVALUATIONS}
    return ProfileResult(
        measures={evaluation.measure: _components(made) for evaluation, made in reports.items()},
        per_note=_per_note(given, gold, system, rows),
        details={
            "evaluations": {evaluation.label: _evaluation(made) for evaluation, made in reports.items()},
            "warnings": gold.invalid + system.invalid,
        },
        table="\n".join(i2b2_report.table(evaluation.label, made) for evaluation, made in reports.items()),
        warnings=tuple(_warnings(gold, system)),
    )


def _common(given: ProfileInput, gold: Tagged, system: Tagged) -> Iterator[tuple[str, tuple[Contents, Contents]]]:
    if given.notes is None:
        raise UsageFault("the i2b2 profile tokenises the notes themselves; give them with --notes")
    texts = {note["identifier"]: note["text"] for note in given.notes}
    for note, tags in gold.documents.items():
        if note in system.documents:
            if note not in texts:
                raise OrganiserFault(f"the notes file has no text for note {note}, which both sides annotate")
            yield note, (contents(tags, texts[note]), contents(system.documents[note], texts[note]))


def _evaluation(made: i2b2_report.SetReport) -> dict[str, Any]:
    return _counts(made) | {"docs": made.documents, "micro": made.micro, "macro": made.macro}


def _components(made: i2b2_report.SetReport) -> dict[str, Any]:
    notes = dict.fromkeys(("precision", "recall", "f1"), made.documents)
    return _counts(made) | made.micro | {"macro": made.macro | {"notes": notes}}


def _counts(made: i2b2_report.SetReport) -> dict[str, Any]:
    return {"tp": made.total.tp, "fp": made.total.fp, "fn": made.total.fn}


def _per_note(
    given: ProfileInput, gold: Tagged, system: Tagged, rows: _Rows
) -> dict[str, dict[str, tuple[int, int, int]]]:
    known = [note["identifier"] for note in given.notes or ()]
    nothing = dict.fromkeys(EVALUATIONS, Counts())
    return {
        note: {
            evaluation.measure: (counts.tp, counts.fp, counts.fn)
            for evaluation, counts in rows.get(note, nothing).items()
        }
        for note in dict.fromkeys([*known, *gold.documents, *system.documents])
    }


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
