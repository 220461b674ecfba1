"""A board as everybody may have it: ranked from exact cards, and silent about what its policy keeps back.

What is kept back is named on the board.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from sandscore.disclosure.card_view import bits_of
from sandscore.disclosure.released import Audience, Item, Released, choice_bits, passed
from sandscore.ranking.card_reading import RankedCard
from sandscore.records.board import Board, BoardPolicy, CardReference, ComponentMeasure, RankedMeasure, Row, Site
from sandscore.records.counts import counts_of
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.scorecard import Scorecard
from sandscore.records.totals_card import TotalMeasure, TotalsCard, without_predictions
from sandscore.records.withheld_fields import (
    CARD_FIELDS,
    CHOSEN_COLUMNS,
    PATIENT_FIELDS,
    permitted_fields,
    running_fields,
    without_running_fields,
)


class PlacedCard(Struct, frozen=True):
    """A card that was released, and where it lies as seen from the board."""

    card: Scorecard | TotalsCard
    reference: CardReference


class BoardItem(Item[Board], frozen=True, kw_only=True):
    """The exact board and the cards that it was ranked from; the released ones by submission and data set. Without
    ``entries`` it is a board that hides its cards already."""

    board: Board
    entries: Sequence[RankedCard] = ()
    cards: Mapping[tuple[str, str], PlacedCard] = {}
    columns: Sequence[str] | None = None


def board_view(item: BoardItem, _audience: Audience, policy: DisclosurePolicy) -> Released[Board]:
    """The board with its policy, and the list of what is kept back."""
    seen, kept_back = _exact(item) if policy.exact else _running(item, policy)
    hidden = hidden_columns(policy, item.columns)
    rows = tuple(row.model_copy(update=dict.fromkeys(hidden)) for row in seen.rows)
    before = permitted_fields(policy) & {*item.board.withheld}
    withheld = tuple(sorted({*before, *kept_back, *(f"/rows/*/{name}" for name in hidden)}))
    view = seen.model_copy(update={"rows": rows, "policy": policy_of(policy), "withheld": withheld})
    return passed(item, view, "board", _bits(view))


def hidden_columns(policy: DisclosurePolicy, columns: Sequence[str] | None) -> frozenset[str]:
    """What is not said of who made a submission, and how it ran."""
    hidden = {name for name in CHOSEN_COLUMNS if columns is not None and name not in columns}
    return frozenset(hidden | {"run"} if policy.notes_hidden else hidden)


def policy_of(policy: DisclosurePolicy) -> BoardPolicy:
    """What a board says of its policy, so that whoever publishes it needs nothing else."""
    return BoardPolicy(**{name: getattr(policy, name) for name in BoardPolicy.model_fields})


def recomputed_view(board: Board, entries: Sequence[RankedCard], policy: DisclosurePolicy) -> Board:
    """What everybody would see of a board that was ranked again from its exact cards."""
    return board_view(BoardItem(board=board, entries=entries), Audience.PUBLIC, policy).view


def _exact(item: BoardItem) -> tuple[Board, set[str]]:
    """Every number, and those cards that are released; only cards with notes come with all that rows copy from them."""
    placed = item.cards
    if placed and all(isinstance(one.card, Scorecard) for one in placed.values()):
        return item.board.model_copy(update={"rows": tuple(_with_cards(row, placed) for row in item.board.rows)}), set()
    rows = tuple(_with_totals(_with_cards(row, placed)) for row in item.board.rows)
    pairs = tuple(pair.model_copy(update={"patients": None}) for pair in item.board.pairwise)
    view = item.board.model_copy(update={"rows": rows, "pairwise": pairs})
    return view, {*PATIENT_FIELDS, *(() if placed else CARD_FIELDS)}


def _with_cards(row: Row, placed: Mapping[tuple[str, str], PlacedCard]) -> Row:
    mine = {dataset: one.reference for (submission, dataset), one in placed.items() if submission == row.submission}
    if not row.sites:
        return row.model_copy(update={"card": next(iter(mine.values()), None)})
    mine = {dataset or NAMELESS_SITE: reference for dataset, reference in mine.items()}
    sites = {name: site.model_copy(update={"card": mine.get(name)}) for name, site in row.sites.items()}
    return row.model_copy(update={"sites": sites})


def _with_totals(row: Row) -> Row:
    """What the row copies from its exact card is cut down to what totals say."""
    shown = {
        name: {field: value for field, value in measure.items() if field in TotalMeasure.model_fields}
        for name, measure in row.shown.items()
    }
    sites = {name: _unsigned(site) for name, site in row.sites.items()}
    return _unsigned(row).model_copy(update={"shown": shown, "sites": sites})


_Signed = TypeVar("_Signed", Row, Site)


def _unsigned(signed: _Signed) -> _Signed:
    signature = signed.signature
    return signed.model_copy(update={"signature": without_predictions(signature) if signature else signature})


def _running(item: BoardItem, policy: DisclosurePolicy) -> tuple[Board, set[str]]:
    """What the feedback leaves while exact scores are hidden."""
    mode, seen = policy.feedback, item.board
    if item.entries:
        from sandscore.disclosure.feedback_view import as_public
        from sandscore.ranking.score_table import tabulate

        rules = seen.config.model_copy(update={"feedback": mode})
        seen = as_public(seen, tabulate(item.entries), rules)
    return without_running_fields(seen, mode), running_fields(mode)


def _bits(board: Board) -> float:
    """At most what the board tells: a place, a rounded score, a count, or all of a double."""
    bits = 0.0
    for row in board.rows:
        bits += choice_bits(len(board.rows)) if row.rank is not None else 0.0
        for measure in row.measures.values():
            ratios = sum(value is not None for value in (measure.f1, measure.precision, measure.recall))
            counts = (measure.numbers or {}).values() if isinstance(measure, ComponentMeasure) else _counts(measure)
            bits += bits_of(counts) if counts else ratios * choice_bits(_ROUNDED)
            bits += 2 * _DOUBLE if measure.f1_ci is not None else 0.0
        doubles = (row.score, row.k, row.p_vs_leader, row.p_first, *(row.score_ci or ()))
        bits += _DOUBLE * (sum(value is not None for value in doubles) + _OF_A_GROUP * len(row.slices))
        bits += _DOUBLE * _OF_A_GROUP * len(row.robustness)
    pairs = sum(isinstance(value, float) for pair in board.pairwise for value in pair.model_dump().values())
    pairs += 2 * sum(pair.delta_ci is not None for pair in board.pairwise)
    bits += sum(bits_of(pair.patients) for pair in board.pairwise if pair.patients is not None)
    tau = 4 + 2 * len(board.rows) if board.stability is not None else 0
    return bits + _DOUBLE * (pairs + tau + 2 * len(board.agreement))


NAMELESS_SITE = "default"
"""The key among a row's sites of a data set that has no name."""
_DOUBLE = 64.0
_OF_A_GROUP = 7
"""Numbers at most that a row says of its worst slice, or of a perturbed copy, with the slice's name."""
_ROUNDED = 10_001
"""Places on the finest grid that rounded scores are told on."""


def _counts(measure: RankedMeasure) -> tuple[int, ...]:
    counts = counts_of(measure.tp, measure.fp, measure.fn)
    return (counts.tp, counts.fp, counts.fn) if counts else ()
