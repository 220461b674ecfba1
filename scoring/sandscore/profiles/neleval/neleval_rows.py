"""neleval's rows: four counts and three ratios per measure, its groups and averages, its printed table."""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from msgspec import Struct

from sandscore.span_measures.mention_partners import Credits, EndBeforeStart, Mention, credit_sums

COLUMNS = ("ptp", "fp", "rtp", "fn", "precis", "recall", "fscore")
WAYS = ("max", "sum")

Row = dict[str, Any]


class Counts4(Struct, frozen=True, gc=False):
    """Found and false among the system's mentions, found and missed among gold's."""

    ptp: float = 0
    fp: float = 0
    rtp: float = 0
    fn: float = 0

    def plus(self, other: "Counts4") -> "Counts4":
        return Counts4(self.ptp + other.ptp, self.fp + other.fp, self.rtp + other.rtp, self.fn + other.fn)

    def row(self) -> Row:
        """With the ratios; anything over zero is 0.0."""
        precision = _over(self.ptp, self.ptp + self.fp)
        recall = _over(self.rtp, self.rtp + self.fn)
        fscore = _over(2 * precision * recall, precision + recall)
        return dict(zip(COLUMNS, (self.ptp, self.fp, self.rtp, self.fn, precision, recall, fscore), strict=True))


Cells = dict[str, Counts4 | str]
"""A measure's counts, or the error that ends the original on it."""


def cells(system: Sequence[Mention], gold: Sequence[Mention], key: str) -> Cells:
    """``sets`` and the four overlap aggregators of one key."""
    try:
        sums = credit_sums(system, gold, typed=key == "span+type")
    except EndBeforeStart as error:
        died = {f"overlap-{r}{p}::{key}": str(error) for r in WAYS for p in WAYS}
        return {f"sets::{key}": _of_sets(set_counts(system, gold, key))} | died
    return counted(key, set_counts(system, gold, key), sums, (len(system), len(gold)))


def counted(key: str, sets: tuple[int, int, int], sums: Credits, sizes: tuple[int, int]) -> Cells:
    """The measures of one key from its set counts, its credits and the numbers of system and gold mentions."""
    system, gold = sizes
    found: Cells = {f"sets::{key}": _of_sets(sets)}
    for r, p in product(WAYS, WAYS):
        fp, fn = system - sums["system", p], gold - sums["gold", r]
        found[f"overlap-{r}{p}::{key}"] = Counts4(system - fp, fp, gold - fn, fn)
    return found


def _of_sets(sets: tuple[int, int, int]) -> Counts4:
    both, system_only, gold_only = sets
    return Counts4(both, system_only, both, gold_only)


def set_counts(system: Sequence[Mention], gold: Sequence[Mention], key: str) -> tuple[int, int, int]:
    """Keys in both, in the system's alone, in gold's alone; a repeated mention is one key."""
    ours, theirs = ({m.typed_key if key == "span+type" else m.key for m in side} for side in (system, gold))
    return len(ours & theirs), len(ours - theirs), len(theirs - ours)


def plain_rows(found: Cells) -> dict[str, Row]:
    """One row a measure."""
    return {name: {"error": c} if isinstance(c, str) else c.row() for name, c in found.items()}


def grouped_rows(
    system: Sequence[Mention],
    gold: Sequence[Mention],
    fields: Sequence[str],
    compute: Callable[[Sequence[Mention], Sequence[Mention]], Cells],
) -> dict[str, Row]:
    """Rows per combination of the values gold has, their macro averages per field, their micro average.

    The original dies on the first measure that fails in any group, and when values cannot be sorted.
    """
    sides = [_split(side, fields) for side in (system, gold)]
    values = [sorted(dict.fromkeys(group[i] for group in sides[1])) for i in range(len(fields))]
    groups = list(product(*values))
    computed = [compute(sides[0].get(group, []), sides[1].get(group, [])) for group in groups]
    rows: dict[str, Row] = {}
    for measure in compute([], []):
        members = [(group, _sound(found[measure])) for group, found in zip(groups, computed, strict=True)]
        for group, counts in members:
            rows[_name(measure, fields, [json.dumps(value) for value in group])] = counts.row()
        for i in range(len(fields)):
            parts = _summed_by(members, i)
            labels = ["<macro>" if i == j else "<micro>" for j in range(len(fields))]
            rows[_name(measure, fields, labels)] = _macro([part.row() for part in parts])
        rows[_name(measure, fields, ["<micro>"] * len(fields))] = _sum(parts).row()
    return rows


def table(rows: dict[str, Row]) -> str:
    """The tab separated table; rows sorted by name, three decimals for floats, bare zeros where nothing is."""
    lines = ["\t".join((*COLUMNS, "measure"))]
    for name, row in sorted(rows.items()):
        lines.append("\t".join((*(_printed(row[column]) for column in COLUMNS), name)))
    return "\n".join(lines)


def _over(part: float, whole: float) -> float:
    return part / float(whole) if whole else 0.0


def _printed(value: float | None) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value or 0)


def _split(side: Sequence[Mention], fields: Sequence[str]) -> dict[tuple[Any, ...], list[Mention]]:
    found: dict[tuple[Any, ...], list[Mention]] = {}
    for mention in side:
        found.setdefault(tuple(getattr(mention, field) for field in fields), []).append(mention)
    return found


def _sound(counts: Counts4 | str) -> Counts4:
    if isinstance(counts, str):
        raise EndBeforeStart(counts)
    return counts


def _name(measure: str, fields: Sequence[str], labels: Sequence[str]) -> str:
    return measure + "".join(f";{field}={label}" for field, label in zip(fields, labels, strict=True))


def _summed_by(members: list[tuple[tuple[Any, ...], Counts4]], field: int) -> list[Counts4]:
    parts: dict[Any, Counts4] = {}
    for group, counts in members:
        parts[group[field]] = parts.get(group[field], Counts4()).plus(counts)
    return list(parts.values())


def _sum(parts: Iterable[Counts4]) -> Counts4:
    total = Counts4()
    for part in parts:
        total = total.plus(part)
    return total


def _macro(rows: list[Row]) -> Row:
    means: Row = dict.fromkeys(COLUMNS)
    for column in COLUMNS if rows else ():
        total = 0.0
        for row in rows:
            total += row[column]
        means[column] = total / len(rows)
    return means
