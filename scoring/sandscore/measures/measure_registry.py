"""The measure table, and every measure of a data set counted note by note and label by label."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints
from sandscore.base.errors import UsageFault
from sandscore.measures import challenge_counts
from sandscore.measures.aligned import Sides
from sandscore.measures.challenge_counts import Tallies, Tally
from sandscore.measures.hipaa_map import HipaaMap
from sandscore.measures.measure_syntax import Definition, Named, Parameter, Scalar, parse
from sandscore.task_table.task import SPAN_MEASURES, TASKS, Task

_RELAX = (Parameter("relax", 2, least=0, most=1000), Parameter("boundary", "end", choices=("end", "both")))
LABEL_MEASURES = tuple(dict.fromkeys(task.label_measure for task in TASKS.values() if task.label_measure))

MEASURES: dict[str, Definition] = {
    row.name: row
    for row in (
        Definition("token", "white-space tokens with the same start and text"),
        Definition("instance_strict", "same start, length and text"),
        Definition("instance_relax", "same start, length within `relax` characters; or both boundaries", _RELAX),
        *(Definition(name, "strict match and equal label") for name in LABEL_MEASURES),
        Definition("hipaa_phi", "strict match and equal HIPAA value of the labels"),
        Definition("hipaa_phi_only", "strict match and equal label among labels that HIPAA protects"),
    )
}


class Counted(Struct, frozen=True):
    """One measure's counts: a row a note, and a row a label where the measure has any."""

    measure: Named
    per_note: Tally
    per_label: Tally | None
    conditional: tuple[int, int] | None = None
    reason: str | None = None


def measures_for(task: Task, asked: Iterable[str] = ()) -> list[Named]:
    """The task's own measures and those asked for, each once; general measures serve every task."""
    own = [Named(name) for name in task.measures]
    return list(dict.fromkeys(own + [_asked(task, written) for written in asked]))


def _asked(task: Task, written: str) -> Named:
    measure, known = parse(written, all_measures() | _own_measure(task)), general_measures()
    if measure.name not in task.measures and measure.name not in known:
        allowed = ", ".join((*task.measures, *known))
        raise UsageFault(f"the task {task.id} has no measure {measure.name}; it has {allowed}")
    return measure


def _own_measure(task: Task) -> dict[str, Definition]:
    """The label measure of an organiser's own task."""
    name = task.label_measure
    return {name: Definition(name, "strict match and equal label")} if name else {}


def is_columnar(task: Task, measure: Named) -> bool:
    """Whether it is counted on columns, with the challenge's own; the general ones look at documents."""
    return measure.name in MEASURES or measure.name == task.label_measure


def all_measures() -> dict[str, Definition]:
    """Those of the challenge and the general ones, which few want and which take their time to import."""
    return MEASURES | general_measures()


def general_measures() -> dict[str, Definition]:
    from sandscore.measures.document_counts import GENERAL

    return {name: row.definition for name, row in GENERAL.items()}


def count_all(
    task: Task, sides: Sides, names: list[str], measures: list[Named], hipaa: HipaaMap | None
) -> list[Counted]:
    """Every measure's counts over some notes. ``names`` are the labels' names by code."""
    protected = hipaa.codes(names) if hipaa else None
    labels = max(1, len(names)) if task.label else 0
    return [_count(task, sides, labels, measure, protected) for measure in measures]


def added(counted: list[Counted], reason: str | None) -> Counted:
    """One measure's counts over parts of the notes as one; ``reason`` if gold carries no label at all."""
    first = counted[0]
    tables = [part.per_label for part in counted if part.per_label is not None]
    pairs = [part.conditional for part in counted if part.conditional is not None]
    return Counted(
        first.measure,
        np.concatenate([part.per_note for part in counted]),
        np.sum(tables, axis=0) if tables else None,
        (sum(right for right, _ in pairs), sum(wrong for _, wrong in pairs)) if pairs else None,
        None if first.measure.name in SPAN_MEASURES else reason,
    )


def _count(task: Task, sides: Sides, labels: int, measure: Named, protected: Ints | None) -> Counted:
    if measure.name in SPAN_MEASURES:
        settings = MEASURES[measure.name].settle(measure)
        found = _SPANS[measure.name](sides, labels, settings)
        return Counted(measure, found.per_note, found.per_label)
    if measure.name == task.label_measure:
        found = challenge_counts.labelled(sides, labels)
        right = int(found.per_note[:, 0].sum())
        conditional = right, challenge_counts.differing(sides, right)
        return Counted(measure, found.per_note, found.per_label, conditional)
    if protected is None:
        raise UsageFault(f"{measure} needs a HIPAA map")
    phi = measure.name == "hipaa_phi"
    found = challenge_counts.by_value(sides, protected) if phi else challenge_counts.among(sides, labels, protected)
    return Counted(measure, found.per_note, None)


_SPANS: dict[str, Callable[[Sides, int, Mapping[str, Scalar]], Tallies]] = {
    "token": lambda sides, labels, _: challenge_counts.token(sides, labels),
    "instance_strict": lambda sides, labels, _: challenge_counts.instance_strict(sides, labels),
    "instance_relax": challenge_counts.instance_relax,
}


def totals(per_group: Tally) -> tuple[int, int, int]:
    """The counts of all groups together."""
    tp, fp, fn = np.asarray(per_group).sum(axis=0).tolist()
    return tp, fp, fn
