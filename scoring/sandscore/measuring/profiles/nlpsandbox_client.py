"""The scorer of the NLP Sandbox client, releases 4.3.0 and 3.1.0, with every number and every crash of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from sandscore.measuring.profiles.nlpsandbox_numbers import (
    Ratios,
    Tally,
    output,
    rounded,
    table,
    tallies,
    type_is_nan,
)
from sandscore.measuring.profiles.nlpsandbox_reading import (
    RELEASES,
    Instance,
    Side,
    columns,
    read_files,
)
from sandscore.measuring.profiles.result import ProfileInput, ProfileResult
from sandscore.measuring.profiles.stopping import stopping
from sandscore.measuring.values import Definition, Parameter, Scalar
from sandscore.records.counts import Counts
from sandscore.records.errors import OrganiserFault, ParticipantFault

DEFINITION = Definition(
    "nlpsandbox-client",
    "the scorer of the NLP Sandbox: micro F1, precision and recall rounded to two digits",
    (Parameter("release", "4.3.0", choices=("4.3.0", "3.1.0")),),
)


def read_sides(given: ProfileInput, release: str) -> tuple[Side, Side]:
    """Gold and predictions as the client's two dictionaries."""
    return read_files(given.gold, given.predictions, columns(given.task, release), RELEASES[release])


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """The client's measures, tables and output for one task."""
    release = str(settings["release"])
    name = columns(given.task, release).name
    gold, predicted = read_sides(given, release)
    at_fault = ParticipantFault if _lengths_are_numbers(gold) else OrganiserFault
    with stopping("lengths", at_fault):
        counted = tallies(gold, predicted)
    ratios = {measure: rounded(tally.total) for measure, tally in counted.items()}
    if type_is_nan(name, predicted.instances.values()):
        ratios["type"] = Ratios(None, None, None)
    return ProfileResult(
        measures={measure: _components(tally, ratios[measure]) for measure, tally in counted.items()},
        per_note=_per_note(_notes(given, gold, predicted), counted),
        details=output(name, ratios),
        table=table(name, ratios),
        warnings=tuple(_warnings(name, gold, predicted, counted, ratios)),
    )


def _lengths_are_numbers(side: Side) -> bool:
    return all(isinstance(length, int | float) for _, _, _, length in side.instances.values())


def _components(tally: Tally, ratios: Ratios) -> dict[str, Any]:
    total = tally.total
    counts = {"tp": total.tp, "fp": total.fp, "fn": total.fn}
    return counts | {"precision": ratios.precision, "recall": ratios.recall, "f1": ratios.f1}


def _notes(given: ProfileInput, gold: Side, predicted: Side) -> list[str]:
    known = [str(note["identifier"]) for note in given.notes or ()]
    return list(dict.fromkeys([*known, *gold.notes, *predicted.notes]))


def _per_note(notes: list[str], counted: Mapping[str, Tally]) -> dict[str, dict[str, tuple[int, int, int]]]:
    none = Counts()
    return {
        note: {measure: _triple(tally.per_note.get(note, none)) for measure, tally in counted.items()} for note in notes
    }


def _triple(counts: Counts) -> tuple[int, int, int]:
    return counts.tp, counts.fp, counts.fn


def _warnings(
    name: str, gold: Side, predicted: Side, counted: Mapping[str, Tally], ratios: Mapping[str, Ratios]
) -> Iterator[str]:
    for whose, side in (("gold", gold), ("the predictions", predicted)):
        if lost := side.read - len(side.instances):
            yield f"{lost} annotations in {whose} are replaced by a later one with the same note and start"
        if side.misplacing:
            yield f"{side.misplacing} texts in {whose} have tokens counted at a place that does not hold them"
    if other := _other_texts(gold, predicted):
        yield f"{other} predictions match in place and length but not in text; the text is never compared"
    if ratios["type"].f1 is None:
        reason = "no prediction names a type" if name == "address" else "this release always does so"
        yield f"{name}_type is printed as NaN ({reason}); the counts stand"
    if one_sided := len(set(gold.notes) ^ set(predicted.notes)):
        yield f"{one_sided} notes have a record on one side only; all they hold counts as missed or spurious"
    if not gold.instances and not predicted.instances:
        yield "nothing is annotated on either side: printed as 0, not as undefined"
    rough = [measure for measure, tally in counted.items() if _misprinted(tally, ratios[measure])]
    if rough:
        yield f"F1 is made of rounded ratios; rounding the exact one prints otherwise for {', '.join(rough)}"


def _other_texts(gold: Side, predicted: Side) -> int:
    both = predicted.instances.keys() & gold.instances.keys()
    return sum(_differ_in_text_alone(predicted.instances[key], gold.instances[key]) for key in both)


def _differ_in_text_alone(one: Instance, other: Instance) -> bool:
    (_, text, _, length), (_, other_text, _, other_length) = one, other
    return bool(length == other_length and text != other_text)


def _misprinted(tally: Tally, ratios: Ratios) -> bool:
    exact = tally.total.f1
    return exact is not None and ratios.f1 is not None and round(exact, 2) != ratios.f1
