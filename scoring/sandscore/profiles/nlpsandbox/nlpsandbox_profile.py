"""The scorer of the NLP Sandbox client, releases 4.3.0 and 3.1.0, with every number and every crash of it.

What the NLP Sandbox client rounds and prints.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from sandscore.annotations.input_files import Loaded
from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.documents.note_spans import spans_of
from sandscore.measures.measure_syntax import Parameter, Scalar
from sandscore.profiles.nlpsandbox.nlpsandbox_matching import (
    ClientComparison,
    ClientTally,
    Triple,
    compare_columns,
    compare_entries,
    compare_spans,
)
from sandscore.profiles.nlpsandbox.nlpsandbox_sides import RELEASES, ClientSide, columns, read_files
from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult, stopping
from sandscore.records.counts import Counts
from sandscore.task_table.task import Task

Printed = int | float
_ROW = "{:<25}{:<15}{:<15}{:<20}"


class ClientRatios(Struct, frozen=True):
    """As printed: rounded, F1 made of the rounded two; None is the client's NaN."""

    f1: Printed | None
    precision: Printed | None
    recall: Printed | None

    @property
    def printed(self) -> tuple[Printed | None, ...]:
        """In the order in which the client prints them."""
        return self.f1, self.precision, self.recall


class Pass(Struct, frozen=True):
    """One of the client's four passes; ``kind`` and ``mode`` are what it prints for it."""

    measure: str
    kind: str
    mode: str


PASSES = (
    Pass("instance_relax", "instance", "relax"),
    Pass("instance_strict", "instance", "strict"),
    Pass("type", "", "strict"),
    Pass("token", "token", "strict"),
)
"""In the order in which the tables are printed; the second pass over types is named after the task."""


def rounded(counts: Counts) -> ClientRatios:
    """Two digits each; the integer 0 where there is nothing to divide by."""
    precision = round(counts.tp / (counts.tp + counts.fp), 2) if counts.tp + counts.fp else 0
    recall = round(counts.tp / (counts.tp + counts.fn), 2) if counts.tp + counts.fn else 0
    if precision + recall == 0:
        return ClientRatios(0, precision, recall)
    return ClientRatios(round(2 * ((precision * recall) / (precision + recall)), 2), precision, recall)


def type_is_nan(name: str, predictions_name_types: bool) -> bool:
    """Dates and persons always; addresses when no prediction names a type; the later tasks never."""
    return not predictions_name_types if name == "address" else name in {"date", "person"}


def output(name: str, ratios: Mapping[str, ClientRatios]) -> dict[str, Any]:
    """The client's JSON output: nine entries for the location, three for the type."""
    entries = {row: _entries(ratios[row.measure]) for row in PASSES}
    location = [
        entry | {"type": row.kind, "mode": row.mode} for row, three in entries.items() if row.kind for entry in three
    ]
    return {f"{name}_location": location, f"{name}_type": entries[PASSES[2]]}


def table(name: str, ratios: Mapping[str, ClientRatios]) -> str:
    """The four tables that the client prints."""
    lines = []
    for row in PASSES:
        values = ("nan" if value is None else value for value in ratios[row.measure].printed)
        lines += [
            _ROW.format(row.kind or name, "F1", "Precision", "Recall"),
            "-" * 75,
            _ROW.format(row.mode, *values),
            "\n",
        ]
    return "\n".join(lines)


def _entries(ratios: ClientRatios) -> list[dict[str, Any]]:
    return [
        {"metric": metric, "value": value}
        for metric, value in zip(("F1", "precision", "recall"), ratios.printed, strict=True)
    ]


def read_sides(given: ProfileInput, release: str) -> tuple[ClientSide, ClientSide]:
    """Gold and predictions as the client's two dictionaries."""
    return read_files(given.gold, given.predictions, columns(given.task, release), RELEASES[release])


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """The client's measures, tables and output for one task."""
    release = str(settings["release"])
    where = columns(given.task, release)
    compared = compare_columns(given.gold, given.predictions, where, RELEASES[release])
    if compared is None:
        compared = _compared(*read_sides(given, release))
    return _result(compared, where.name, [str(note["identifier"]) for note in given.notes or ()])


def evaluate_columns(task: Task, loaded: Loaded, settings: Mapping[str, Scalar]) -> ProfileResult | None:
    """The same of files that were read as columns."""
    release = str(settings["release"])
    where = columns(task, release)
    compared = compare_spans(spans_of(loaded), loaded, where, RELEASES[release])
    return None if compared is None else _result(compared, where.name, loaded.dataset.roll.ids)


def _result(compared: ClientComparison, name: str, known: Sequence[str]) -> ProfileResult:
    ratios = {measure: rounded(tally.total) for measure, tally in compared.tallies.items()}
    if type_is_nan(name, compared.names_types):
        ratios["type"] = ClientRatios(None, None, None)
    return ProfileResult(
        measures={measure: _components(tally, ratios[measure]) for measure, tally in compared.tallies.items()},
        per_note=_per_note(dict.fromkeys(chain(known, *compared.notes)), compared.tallies),
        details=output(name, ratios),
        table=table(name, ratios),
        warnings=tuple(_warnings(name, compared, ratios)),
    )


def _compared(gold: ClientSide, predicted: ClientSide) -> ClientComparison:
    numbers = all(isinstance(length, int | float) for _, _, _, length in gold.instances.values())
    with stopping("lengths", ParticipantFault if numbers else OrganiserFault):
        return compare_entries(gold, predicted)


def _components(tally: ClientTally, ratios: ClientRatios) -> dict[str, Any]:
    total = tally.total
    counts = {"tp": total.tp, "fp": total.fp, "fn": total.fn}
    return counts | {"precision": ratios.precision, "recall": ratios.recall, "f1": ratios.f1}


def _per_note(notes: Iterable[str], counted: Mapping[str, ClientTally]) -> dict[str, dict[str, Triple]]:
    return {
        note: {measure: tally.per_note.get(note, (0, 0, 0)) for measure, tally in counted.items()} for note in notes
    }


def _warnings(name: str, compared: ClientComparison, ratios: Mapping[str, ClientRatios]) -> Iterator[str]:
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


def _misprinted(tally: ClientTally, ratios: ClientRatios) -> bool:
    exact = tally.total.f1
    return exact is not None and ratios.f1 is not None and round(exact, 2) != ratios.f1


class NlpsandboxClientScorer(OriginalScorer):
    """The scorer of the NLP Sandbox: micro F1, precision and recall rounded to two digits."""

    name = "nlpsandbox-client"
    description = "the scorer of the NLP Sandbox: micro F1, precision and recall rounded to two digits"
    source = "nlpsandbox-client 4.3.0 and 3.1.0"
    parameters = (Parameter("release", "4.3.0", choices=("4.3.0", "3.1.0")),)
    evaluate = staticmethod(evaluate)
    evaluate_columns = staticmethod(evaluate_columns)
