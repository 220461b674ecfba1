"""The challenge's own measures: one class each, all counted over the same columns of many notes at once."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from msgspec import Struct

from sandscore.base.arrays import HeldArrays, Values, np
from sandscore.base.errors import UsageFault
from sandscore.base.exact_sums import exact_sum
from sandscore.base.removable_rooms import compiled
from sandscore.measures import challenge_counts
from sandscore.measures.aligned import Sides
from sandscore.measures.challenge_counts import Tallies, Tally
from sandscore.measures.hipaa_map import HipaaMap
from sandscore.measures.measure import Measure
from sandscore.measures.measure_syntax import Named, Parameter, Scalar
from sandscore.task_table.task import Task

CONTRACT = "the challenge's rules, docs/measures.md"


class CountingTerms(Struct, frozen=True):
    """How many labels there are, the measure's parameters, and by label whether HIPAA protects it."""

    labels: int
    settings: Mapping[str, Scalar]
    hipaa: list[int] | None

    @property
    def protected(self) -> list[int]:
        if self.hipaa is None:
            raise UsageFault("it needs a HIPAA map")
        return self.hipaa


class ChallengeMeasure(Measure):
    """A measure of annotations in columns: ``compares_labels`` where it is undefined without labels in gold."""

    source = CONTRACT
    compares_labels: ClassVar[bool] = False

    @staticmethod
    def count(sides: Sides, terms: CountingTerms) -> Tallies:
        """tp, fp and fn a note, and a label where the measure has any."""
        raise NotImplementedError


class TokenMatch(ChallengeMeasure):
    """White-space tokens."""

    name = "token"
    description = "white-space tokens with the same start and text"
    plain = "words"
    finding = "{find} {share} words of {things}"

    @staticmethod
    def count(sides: Sides, terms: CountingTerms) -> Tallies:
        return challenge_counts.token(sides, terms.labels)


class StrictMatch(ChallengeMeasure):
    """Equal annotations."""

    name = "instance_strict"
    description = "same start, length and text"
    plain = "exact spans"
    finding = "{find} {share} {things}"

    @staticmethod
    def count(sides: Sides, terms: CountingTerms) -> Tallies:
        return challenge_counts.instance_strict(sides, terms.labels)


class RelaxedMatch(ChallengeMeasure):
    """Nearly equal annotations."""

    name = "instance_relax"
    description = "same start, length within `relax` characters; or both boundaries"
    plain = "nearly exact spans"
    finding = "{find} {share} {things}, give or take a few characters"
    parameters = (Parameter("relax", 2, least=0, most=1000), Parameter("boundary", "end", choices=("end", "both")))

    @staticmethod
    def count(sides: Sides, terms: CountingTerms) -> Tallies:
        return challenge_counts.instance_relax(sides, terms.labels, terms.settings)


class LabelMatch(ChallengeMeasure):
    """Equal annotations with equal labels: the rows of this family are named by the task table."""

    description = "strict match and equal label"
    plain = "exact spans, right {label}"
    finding = "{find} {share} {things} with the right {label}"
    compares_labels = True

    @staticmethod
    def count(sides: Sides, terms: CountingTerms) -> Tallies:
        found = challenge_counts.labelled(sides, terms.labels)
        right = int(found.per_note[:, 0].sum())
        return Tallies(found.per_note, found.per_label, (right, challenge_counts.differing(sides, right)))


class HipaaMatch(ChallengeMeasure):
    """Equal annotations that HIPAA treats alike."""

    name = "hipaa_phi"
    description = "strict match and equal HIPAA value of the labels"
    plain = "exact spans, right about HIPAA"
    compares_labels = True

    @staticmethod
    def count(sides: Sides, terms: CountingTerms) -> Tallies:
        return challenge_counts.by_value(sides, np.array(terms.protected, np.int64))


class HipaaOnlyMatch(ChallengeMeasure):
    """Equal annotations with equal labels, among those that HIPAA protects."""

    name = "hipaa_phi_only"
    description = "strict match and equal label among labels that HIPAA protects"
    plain = "exact spans, of what HIPAA protects"
    compares_labels = True

    @staticmethod
    def count(sides: Sides, terms: CountingTerms) -> Tallies:
        return challenge_counts.among(sides, terms.labels, np.array(terms.protected, np.int64))


class Counted(HeldArrays):
    """One measure's counts: a row a note, and a row a label where the measure has any."""

    measure: Named
    per_note: Tally
    per_label: Tally | None
    conditional: tuple[int, int] | None
    reason: str | None


def count_all(
    task: Task, sides: Sides, names: list[str], measures: Iterable[Named], hipaa: HipaaMap | None
) -> list[Counted]:
    """Every measure's counts over some notes. ``names`` are the labels' names by code."""
    rows = terms_of(task, names, measures, hipaa)
    return [named_counts(measure, row.count(sides, terms)) for measure, row, terms in rows]


def terms_of(
    task: Task, names: list[str], measures: Iterable[Named], hipaa: HipaaMap | None
) -> list[tuple[Named, type[ChallengeMeasure], CountingTerms]]:
    """Every measure with its row and what it is to count by."""
    from sandscore.measures.measure_registry import MEASURES

    MEASURES.learn(task)
    protected = hipaa.codes(names) if hipaa else None
    return [_terms(measure, labels_of(task, names), protected) for measure in measures]


def labels_of(task: Task, names: list[str]) -> int:
    """How many labels are told apart; 0 where the task has none."""
    return max(1, len(names)) if task.label else 0


def named_counts(measure: Named, found: Tallies) -> Counted:
    """A measure's counts under its name."""
    return Counted(measure, **found.held)


def added(counted: list[Counted], reason: str | None) -> Counted:
    """One measure's counts over parts of the notes as one; ``reason`` if gold carries no label at all."""
    first = counted[0]
    reason = reason if challenge_measure(first.measure.name).compares_labels else None
    if len(counted) == 1:
        return first.replace(reason=reason)
    tables = [part.per_label for part in counted if part.per_label is not None]
    pairs = [part.conditional for part in counted if part.conditional is not None]
    return Counted(
        first.measure,
        np.concatenate([part.per_note for part in counted]),
        np.sum(tables, axis=0) if tables else None,
        (sum(right for right, _ in pairs), sum(wrong for _, wrong in pairs)) if pairs else None,
        reason,
    )


def challenge_measure(name: str) -> type[ChallengeMeasure]:
    """One of the challenge's own by its name."""
    from sandscore.measures.measure_registry import MEASURES

    row = MEASURES.find(name)
    if not issubclass(row, ChallengeMeasure):
        raise UsageFault(f"{name} is no measure of the challenge")
    return row


def _terms(
    measure: Named, labels: int, protected: list[int] | None
) -> tuple[Named, type[ChallengeMeasure], CountingTerms]:
    row = challenge_measure(measure.name)
    if issubclass(row, HipaaMatch | HipaaOnlyMatch) and protected is None:
        raise UsageFault(f"{measure} needs a HIPAA map")
    return measure, row, CountingTerms(labels, row.settle(measure), protected)


def totals(per_group: Values) -> tuple[int, int, int]:
    """The counts of all groups together."""
    known = compiled().totals(per_group) if isinstance(per_group, memoryview) else None
    tp, fp, fn = np.asarray(per_group).sum(axis=0).tolist() if known is None else known
    return tp, fp, fn


def ratio_sums(per_group: Values) -> list[tuple[float, int]]:
    """Of precision, recall and F1 what they come to over the groups that define them, and how many those are."""
    known = compiled().ratio_sums(per_group) if isinstance(per_group, memoryview) else None
    if known is not None:
        return known
    tp, fp, fn = np.asarray(per_group).T
    defined = [(part, whole, whole > 0) for part, whole in ((tp, tp + fp), (tp, tp + fn), (2 * tp, 2 * tp + fp + fn))]
    values = [part[there] / whole[there] for part, whole, there in defined]
    return [(exact_sum(one), len(one)) for one in values]
