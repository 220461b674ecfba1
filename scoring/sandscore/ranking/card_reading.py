"""Score cards as they come from outside: read strictly, refused with a sentence where they contradict themselves.

Cards that may stand on one board: one task, profile, version and map; one gold and one set of notes a data set.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
from sandscore.base.terminal_text import one_line
from sandscore.records.annotator_agreement import AnnotatorAgreement
from sandscore.records.counts import Counts
from sandscore.records.formula import Formula, parse_formula
from sandscore.records.record_reading import file_content, read_json, read_record
from sandscore.records.scorecard import AnyScore, ComponentScore, FormulaScore, RatioScore, Scorecard
from sandscore.task_table.own_tasks import refuse_unlike_ours

if TYPE_CHECKING:
    from sandscore.records.totals_card import TotalsCard

LARGEST_COUNT = 1 << 40
"""Sums of a million notes of this size are still exact in a double."""


class RankedCard(Struct, frozen=True):
    """A card, where it was found (``listed``: how the board names that place), and what it is called there."""

    card: Scorecard
    path: str
    sha256: str
    submission: str
    listed: str

    @classmethod
    def compared(cls, card: Scorecard, key: str, name: str) -> "RankedCard":
        """The card under a name of its own; what data set and phase are called is no matter where gold is the same."""
        return cls(card.model_copy(update={"dataset": None, "phase": None}), name, "", key, key)

    @property
    def dataset(self) -> str:
        return self.card.dataset or ""

    def with_gold(self, shown: str | None) -> "RankedCard":
        """The same card, its gold named so; where that is not known, as it was."""
        if shown is None:
            return self
        parts = [f"gold:{shown}" if part.startswith("gold:") else part for part in self.card.signature.split("|")]
        return replace(self, card=self.card.model_copy(update={"signature": "|".join(parts)}))

    def signed(self, prefix: str) -> str | None:
        """The part of the signature that begins with ``prefix``, such as ``gold:``."""
        for part in self.card.signature.split("|"):
            if part.startswith(prefix):
                return part.removeprefix(prefix)
        return None


def read_card(path: Path) -> RankedCard:
    """The card in a file."""
    return card_entry(file_content(path), str(path))


def read_cards(paths: Iterable[Path]) -> list[RankedCard]:
    return [read_card(path) for path in paths]


def card_entry(content: bytes, path: str) -> RankedCard:
    """The card in these bytes; ``path`` is only for sentences and for the board."""
    if totals_card(content, path) is not None:
        raise ParticipantFault(f"{path} is a card of totals, without a count for each note: it cannot be ranked")
    card = read_record(Scorecard, content, path, "a score card", ParticipantFault, strict=True)
    _refuse_odd_rows(card, path)
    refuse_unlike_ours(card.task, card.definition, path)
    _refuse_contradictions(card, path)
    name = card.submission or card.team or Path(path).name.removesuffix(".json")
    return RankedCard(card, path, hashlib.sha256(content).hexdigest(), name, Path(path).as_posix())


def totals_card(content: bytes, path: str) -> "TotalsCard | None":
    """The card of totals in these bytes; None where it is another card, or none."""
    if b'"withheld"' not in content:
        return None
    said = read_json(content, path, "a score card", ParticipantFault)
    if not isinstance(said, dict) or "withheld" not in said or "per_note" in said:
        return None
    from sandscore.records.totals_card import TotalsCard

    return read_record(TotalsCard, content, path, "a card of totals", ParticipantFault, strict=True)


def ranked_measures(card: Scorecard) -> tuple[str, ...]:
    """The measures of a card that have integer counts or components, note by note."""
    return tuple(
        name for name, score in card.measures.items() if is_ranked(score) and any(True for _ in rows_of(card, name))
    )


def rows_of(card: Scorecard, measure: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A measure's integers with their patients: note by note, or where they do not add up over notes by patient."""
    by_note = ((card.units[note], rows[measure]) for note, rows in card.per_note.items() if measure in rows)
    return chain(by_note, ((unit, rows[measure]) for unit, rows in card.per_unit.items() if measure in rows))


def is_ranked(score: AnyScore) -> bool:
    """Whether a score is made of whole numbers in a way that the card can say: a value has a formula."""
    if isinstance(score, ComponentScore):
        return True
    return score.counts is not None and (score.value is None or score.formula is not None)


def formula_of(score: AnyScore | None) -> Formula | None:
    """How a measure's score is made of its components; None where they are tp, fp and fn and the score is F1."""
    return parse_formula(score.formula) if score is not None and score.formula is not None else None


def _refuse_odd_rows(card: Scorecard, path: str) -> None:
    """Three counts a note, or as many as the measure's formula has components."""
    wide = {name: _components(score, f"measures/{name}", path) for name, score in card.measures.items()}
    for field, table in (("per_note", card.per_note), ("per_unit", card.per_unit)):
        for one, rows in table.items():
            for name, row in rows.items():
                if len(row) != (wanted := wide.get(name, 3)):
                    raise _odd(path, f"{field}/{one}/{name}", f"{len(row)} counts, not {wanted}")


def _components(score: AnyScore, where: str, path: str) -> int:
    if score.formula is None:
        return 3
    try:
        formula = parse_formula(score.formula)
    except ValueError as fault:
        said = one_line(fault) if isinstance(score, ComponentScore) else "a formula without all that belongs to it"
        raise _odd(path, where, said) from None
    if not isinstance(score, ComponentScore):
        if formula.kind != "f_beta" or score.counts is None:
            raise _odd(path, where, "a formula without all that belongs to it")
        return 3
    if tuple(score.numbers) != formula.components:
        raise _odd(path, where, f"components other than those of its formula: {', '.join(formula.components)}")
    return len(formula.components)


def _odd(path: str, where: str, said: str) -> ParticipantFault:
    return ParticipantFault(f"{path} is not a score card: {one_line(where)}: {said}")


def _refuse_contradictions(card: Scorecard, path: str) -> None:
    if card.units.keys() != card.per_note.keys():
        raise ParticipantFault(f"{path}: 'units' and 'per_note' do not name the same notes")
    if card.notes != len(card.per_note):
        raise ParticipantFault(f"{path}: 'notes' is {card.notes}, but 'per_note' has {len(card.per_note)}")
    if strangers := card.per_unit.keys() - set(card.units.values()):
        raise ParticipantFault(f"{path}: 'per_unit' names a patient without a note: {one_line(min(strangers))}")
    if not card.per_note:
        raise ParticipantFault(f"{path}: a card without notes cannot be ranked")
    if card.agreement is not None and not _follows(card.agreement):
        raise ParticipantFault(f"{path}: 'agreement' does not follow from its own counts")
    for name in ranked_measures(card):
        _refuse_wrong_sum(card, name, path)
        _refuse_wrong_ratio(card, name, path)


def _follows(said: AnnotatorAgreement) -> bool:
    made = said.again()
    ratios = [(said.strict_f1, made.strict_f1), (said.token_kappa, made.token_kappa)]
    for pair, again in zip(said.pairs, made.pairs, strict=True):
        ratios += [(pair.f1, again.f1), (pair.kappa, again.kappa)]
    return all(_alike(one, other) for one, other in ratios)


def _refuse_wrong_sum(card: Scorecard, name: str, path: str) -> None:
    rows = [rows[name] for table in (card.per_note, card.per_unit) for rows in table.values() if name in rows]
    if any(name in note for note in card.per_note.values()) and any(name in unit for unit in card.per_unit.values()):
        raise ParticipantFault(f"{path}: {one_line(name)} stands in 'per_note' and in 'per_unit'")
    numbers = [*chain.from_iterable(rows)]
    if min(numbers, default=0) < 0 or max(numbers, default=0) > LARGEST_COUNT:
        raise ParticipantFault(f"{path}: per_note counts of {one_line(name)} must be whole numbers from 0")
    score, sums = card.measures[name], [sum(column) for column in zip(*rows, strict=True)]
    if isinstance(score, FormulaScore | RatioScore):
        _refuse_wrong_score(score, dict(zip(score.numbers, sums, strict=True)), name, path)
        return
    tp, fp, fn = sums
    if Counts(tp, fp, fn) != score.counts:
        raise ParticipantFault(
            f"{path}: the per_note counts of {one_line(name)} add up to tp {tp}, fp {fp}, fn {fn}; "
            f"'measures' says {_said(score)}"
        )
    if score.formula is not None and score.reason is None:
        made = parse_formula(score.formula).score({"tp": tp, "fp": fp, "fn": fn})
        if not _alike(score.value, made):
            raise ParticipantFault(f"{path}: the value of {one_line(name)} is {score.value}; its counts make {made}")


def _refuse_wrong_score(score: FormulaScore | RatioScore, sums: dict[str, int], name: str, path: str) -> None:
    if sums != score.numbers:
        said = ", ".join(f"{component} {number}" for component, number in sums.items())
        raise ParticipantFault(f"{path}: the per_note counts of {one_line(name)} add up to {said}; 'measures' differs")
    formula = parse_formula(score.formula)
    if max(map(abs, formula.quotient(sums))) > LARGEST_COUNT:
        raise ParticipantFault(f"{path}: the components of {one_line(name)} are beyond what can be added exactly")
    made = formula.score(sums)
    if not _alike(score.ranked, made if score.reason is None else None):
        raise ParticipantFault(f"{path}: the score of {one_line(name)} is {score.ranked}; its components make {made}")


def _refuse_wrong_ratio(card: Scorecard, name: str, path: str) -> None:
    """Only the challenge's own profile promises its ratios; others may round or weigh as their original does."""
    score, counts = card.measures[name], card.measures[name].counts
    if card.profile != "challenge" or counts is None or score.reason is not None:
        return
    for ratio in ("precision", "recall", "f1"):
        said, made = getattr(score, ratio), getattr(counts, ratio)
        if not _alike(said, made):
            raise ParticipantFault(f"{path}: {ratio} of {one_line(name)} is {said}; its counts make {made}")


def _alike(said: float | None, made: float | None) -> bool:
    if said is None or made is None:
        return said is made
    return math.isclose(said, made, abs_tol=1e-9)


def _said(score: AnyScore) -> str:
    return f"tp {score.tp}, fp {score.fp}, fn {score.fn}"


_SAME: tuple[tuple[str, Callable[[RankedCard], object]], ...] = (
    ("task", lambda entry: entry.card.task),
    ("definition of the task", lambda entry: entry.card.definition),
    ("profile", lambda entry: entry.card.profile),
    ("version", lambda entry: entry.card.sandscore),
    ("HIPAA map", lambda entry: entry.signed("map:")),
    ("map of identifiers", lambda entry: entry.signed("classes:")),
)
_SAME_IN_DATASET: tuple[tuple[str, Callable[[RankedCard], object]], ...] = (
    ("gold", lambda entry: entry.signed("gold:")),
    ("notes", lambda entry: list(entry.card.per_note)),
    ("patients", lambda entry: [entry.card.units[note] for note in entry.card.per_note]),
    ("agreement of annotators", lambda entry: entry.card.agreement),
)
_HIDDEN = {"notes", "patients", "agreement of annotators", "definition of the task"}


def in_order(entries: Sequence[RankedCard]) -> list[RankedCard]:
    """The cards in an order that does not depend on how they were named on the command line."""
    return sorted(entries, key=lambda entry: (entry.dataset, entry.submission, entry.sha256))


def cards_of_phase(entries: Sequence[RankedCard], phase: str | None) -> list[RankedCard]:
    """All, or those of one phase; a card that names none may be of any."""
    chosen = [entry for entry in entries if phase is None or entry.card.phase in (None, phase)]
    if entries and not chosen:
        named = ", ".join(sorted({one_line(str(entry.card.phase)) for entry in entries}))
        raise ParticipantFault(f"no card is of the phase '{one_line(str(phase))}'; they are of {named}")
    return chosen


def refuse_incomparable(entries: Sequence[RankedCard]) -> None:
    """Say which two cards cannot stand on one board, and why."""
    if not entries:
        raise ParticipantFault("there is no score card to rank")
    ordered = in_order(entries)
    for what, of in _SAME:
        _refuse_first_difference(ordered, what, of)
    _refuse_several_phases(ordered)
    for _, members in groupby(ordered, key=lambda entry: entry.dataset):
        group = list(members)
        for what, of in _SAME_IN_DATASET:
            _refuse_first_difference(group, what, of)
        _refuse_twice(group)
    _refuse_shared_names(ordered)
    _refuse_other_formulas(ordered)


def _refuse_first_difference(entries: Sequence[RankedCard], what: str, of: Callable[[RankedCard], object]) -> None:
    first = entries[0]
    other = next((entry for entry in entries if of(entry) != of(first)), None)
    if other is None:
        return
    where = f" in the data set '{one_line(first.dataset)}'" if what in dict(_SAME_IN_DATASET) and first.dataset else ""
    difference = "" if what in _HIDDEN else f" ({one_line(of(first))} and {one_line(of(other))})"
    raise ParticipantFault(f"{first.path} and {other.path} cannot be compared: not the same {what}{where}{difference}")


def _refuse_several_phases(entries: Sequence[RankedCard]) -> None:
    """Cards that older versions made name none."""
    first: dict[str, str] = {}
    for entry in entries:
        if entry.card.phase is not None:
            first.setdefault(entry.card.phase, entry.path)
    if len(first) > 1:
        said = ", ".join(f"'{one_line(phase)}' ({path})" for phase, path in sorted(first.items()))
        raise ParticipantFault(
            f"these cards are of several phases, each of which has a board of its own: {said}; --phase chooses one"
        )


def _refuse_twice(entries: Sequence[RankedCard]) -> None:
    for one, two in pairwise(entries):
        if one.submission == two.submission:
            raise ParticipantFault(
                f"{one.path} and {two.path} are both called '{one_line(one.submission)}' on the same data set; "
                "give each submission a name of its own"
            )


def _refuse_shared_names(entries: Sequence[RankedCard]) -> None:
    owners: dict[str, RankedCard] = {}
    for entry in entries:
        first = owners.setdefault(entry.submission, entry)
        if first.card.team != entry.card.team:
            raise ParticipantFault(
                f"{first.path} and {entry.path} are both called '{one_line(entry.submission)}' but come from "
                "different teams; give each submission a name of its own"
            )


def _refuse_other_formulas(entries: Sequence[RankedCard]) -> None:
    """A measure of an installed package is one measure only where formula, direction and version are the same."""
    first: dict[str, tuple[RankedCard, object]] = {}
    for entry in entries:
        for name, score in entry.card.measures.items():
            of = score.formula and (score.formula, score.direction, getattr(score, "plugin", None))
            one, said = first.setdefault(name, (entry, of))
            if said != of:
                what = f"not the same formula, direction or plug-in of {one_line(name)}"
                raise ParticipantFault(f"{one.path} and {entry.path} cannot be compared: {what}")
