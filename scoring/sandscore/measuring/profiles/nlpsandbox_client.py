"""The scorer of the NLP Sandbox client, releases 4.3.0 and 3.1.0, with every number and every crash of it."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from sandscore.measuring.profiles.nlpsandbox_columns import compare_columns
from sandscore.measuring.profiles.nlpsandbox_comparison import Comparison, Tally, Triple, compare_entries
from sandscore.measuring.profiles.nlpsandbox_numbers import Ratios, output, rounded, table, type_is_nan
from sandscore.measuring.profiles.nlpsandbox_reading import RELEASES, Side, columns, read_files
from sandscore.measuring.profiles.result import ProfileInput, ProfileResult
from sandscore.measuring.profiles.stopping import stopping
from sandscore.measuring.values import Definition, Parameter, Scalar
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
    where = columns(given.task, release)
    compared = compare_columns(given.gold, given.predictions, where, RELEASES[release])
    if compared is None:
        compared = _compared(*read_sides(given, release))
    ratios = {measure: rounded(tally.total) for measure, tally in compared.tallies.items()}
    if type_is_nan(where.name, compared.names_types):
        ratios["type"] = Ratios(None, None, None)
    return ProfileResult(
        measures={measure: _components(tally, ratios[measure]) for measure, tally in compared.tallies.items()},
        per_note=_per_note(_notes(given, compared), compared.tallies),
        details=output(where.name, ratios),
        table=table(where.name, ratios),
        warnings=tuple(_warnings(where.name, compared, ratios)),
    )


def _compared(gold: Side, predicted: Side) -> Comparison:
    numbers = all(isinstance(length, int | float) for _, _, _, length in gold.instances.values())
    with stopping("lengths", ParticipantFault if numbers else OrganiserFault):
        return compare_entries(gold, predicted)


def _components(tally: Tally, ratios: Ratios) -> dict[str, Any]:
    total = tally.total
    counts = {"tp": total.tp, "fp": total.fp, "fn": total.fn}
    return counts | {"precision": ratios.precision, "recall": ratios.recall, "f1": ratios.f1}


def _notes(given: ProfileInput, compared: Comparison) -> Iterable[str]:
    known = [str(note["identifier"]) for note in given.notes or ()]
    return dict.fromkeys(chain(known, *compared.notes))


def _per_note(notes: Iterable[str], counted: Mapping[str, Tally]) -> dict[str, dict[str, Triple]]:
    return {
        note: {measure: tally.per_note.get(note, (0, 0, 0)) for measure, tally in counted.items()} for note in notes
    }


def _warnings(name: str, compared: Comparison, ratios: Mapping[str, Ratios]) -> Iterator[str]:
    for whose, lost, misplacing in zip(
        ("gold", "the predictions"), compared.replaced, compared.misplacing, strict=True
    ):
        if lost:
            yield f"{lost} annotations in {whose} are replaced by a later one with the same note and start"
        if misplacing:
            yield f"{misplacing} texts in {whose} have tokens counted at a place that does not hold them"
    if others := compared.other_texts:
        yield f"{others} predictions match in place and length but not in text; the text is never compared"
    if ratios["type"].f1 is None:
        reason = "no prediction names a type" if name == "address" else "this release always does so"
        yield f"{name}_type is printed as NaN ({reason}); the counts stand"
    gold_notes, notes = compared.notes
    if one_sided := len(set(gold_notes) ^ set(notes)):
        yield f"{one_sided} notes have a record on one side only; all they hold counts as missed or spurious"
    if compared.nothing:
        yield "nothing is annotated on either side: printed as 0, not as undefined"
    rough = [measure for measure, tally in compared.tallies.items() if _misprinted(tally, ratios[measure])]
    if rough:
        yield f"F1 is made of rounded ratios; rounding the exact one prints otherwise for {', '.join(rough)}"


def _misprinted(tally: Tally, ratios: Ratios) -> bool:
    exact = tally.total.f1
    return exact is not None and ratios.f1 is not None and round(exact, 2) != ratios.f1
