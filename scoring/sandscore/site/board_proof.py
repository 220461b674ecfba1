"""The proof that a board's page carries: what its script needs to make the numbers again, and to compare two rows.

Cards stand in it to the byte, so that their hashes can be made again. What a board withholds is not there at all.
"""

import json
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

from markupsafe import Markup
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from sandscore.ranking.board_exports import resampled_unit
from sandscore.ranking.pair_tests import adjustment_of, chosen_test, draws_of
from sandscore.records.board import AnyMeasure, Board, ComponentMeasure, Pair, RatioMeasure, Row
from sandscore.records.counts import counts_of
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.formula import COUNTS, F1, parse_formula
from sandscore.records.interval_rules import FEW_LEAKING
from sandscore.site.board_files import ShownCard, references
from sandscore.site.plots.heat_map import pairs_by_name
from sandscore.site.site_folder import file_name

MOST_ROWS = 60
"""So many rows are compared with each other on a page; board.json has every pair."""
MOST_BYTES = 3_000_000
"""So much of cards stands in a page; beyond that the command line reads the files."""
DIGITS = 10_000
"""Differences are embedded to four digits."""
WITHHELD = {
    "/rows/*/card": "the score cards",
    "/rows/*/sites/*/card": "the score cards",
    "/rows/*/image": "images",
    "/rows/*/created": "dates",
    "/rows/*/run": "what the runs cost",
    "/pairwise/*/patients": "on how many patients one row beats another",
    "/pairwise": "the comparisons of pairs",
    "/rows/*/rank": "ranks",
    "/rows/*/measures": "scores",
    "/stability": "how stable the order is",
}
Cards = Mapping[str, Mapping[str, ShownCard]]
_DRAWN = ("score_ci", "chosen_ci", "expected", "k", "p_vs_leader", "p_first")


class EmbeddedRules(Struct, frozen=True):
    """The rules that the script follows."""

    headline: str
    aggregation: str
    measures: Mapping[str, float]
    sites: str
    missing: str
    test: str
    interval: str
    tie_rule: str
    tie_break: Sequence[str]
    numbering: str
    resamples: int
    draws: int
    adjustment: str


class EmbeddedFormula(Struct, frozen=True):
    """What each component of a measure weighs in its quotient; nothing is below a sum.

    ``least``: how many patients must count against a row for an interval of resamples.
    """

    components: Sequence[str]
    above: Sequence[int]
    below: Sequence[int] | None
    lower: bool
    least: int


class EmbeddedMeasure(Struct, frozen=True, omit_defaults=True):
    """What a row says of one measure."""

    counts: tuple[int, ...] | None
    score: float | None
    precision: float | None = None
    recall: float | None = None
    reason: str | None = None
    ci: tuple[float, float] | None = None


class EmbeddedRow(Struct, frozen=True, omit_defaults=True):
    """What a row says that can be made again; ``page`` is its name in the table, ``cards`` are paths and hashes.

    ``sites``: of which data set each of them is.
    """

    name: str
    page: str
    rank: float | None
    rank_set: tuple[int, int] | None
    group: int | None
    measures: dict[str, EmbeddedMeasure]
    score: float | None = None
    score_ci: tuple[float, float] | None = None
    created: str | None = None
    chosen_ci: tuple[float, float] | None = None
    expected: float | None = None
    k: float | None = None
    p_vs_leader: float | None = None
    p_first: float | None = None
    cards: Sequence[tuple[str, str]] = ()
    sites: Sequence[int] = ()


class Embedded(Struct, frozen=True):
    """All that stands in the page for its script; ``cards`` by row and data set, to the byte."""

    level: str
    task: str
    version: str
    challenge: str | None
    phase: str | None
    gold: Sequence[tuple[str, str | None]]
    log_root: str | None
    seed: str
    seed_follows: bool
    rules: EmbeddedRules
    orders: bool
    units: int
    unit: str
    effective: float | None
    formulas: dict[str, EmbeddedFormula]
    rows: Sequence[EmbeddedRow]
    pairs: Sequence[Sequence[int | None]]
    cards: Sequence[Sequence[str]]


class BoardProof(Struct, frozen=True):
    """``level`` is what the page's script can reach: ``recomputed``, ``totals``, or ``shown`` while scores are hidden.

    ``because`` says what keeps it from recomputing everything where the cards are there.
    """

    level: str
    because: str | None
    embedded: Markup
    compared: bool
    withheld: Sequence[str]
    cards: int
    resamples: int
    orders: bool
    stability: bool
    sites: bool

    @property
    def said(self) -> str:
        """What the reader's browser can make again."""
        if self.level == "recomputed":
            carried = "1 score card" if self.cards == 1 else f"{self.cards:,} score cards"
            return (
                f"This page carries {carried}, to the byte. From them your browser can make again the cards’ hashes, "
                "counts, ratios, order, ranks, places, tests and intervals, with the same "
                f"{self.resamples:,} draws as the command line."
            )
        if self.level == "shown":
            return (
                "Exact scores are withheld while the phase runs. Your browser can check the order and the ranks of "
                "what is shown."
            )
        because = f": {self.because}" if self.because else ""
        again = "ratios, order, ranks, places and tie groups" if self.orders else "ratios"
        tests = " and the tests" if self.orders else ""
        return (
            f"This page carries no score cards with a count for each note{because}. Your browser can make {again} "
            f"again from the counts{tests} that are printed here."
        )

    @property
    def unchecked(self) -> str:
        """What it cannot."""
        held = f"Withheld, and so not checked: {', '.join(self.withheld)}. " if self.withheld else ""
        more = [
            *(["what stands of single data sets"] if self.sites else []),
            *(["how stable the order is"] if self.stability else []),
        ]
        listed = f"{', '.join(['the sentences', 'the drawings', *more])} and the columns right of the score as printed"
        return f"{held}Not checked here: {listed}."


def board_proof(board: Board, cards: Cards, policy: DisclosurePolicy, *, whole: bool) -> BoardProof:
    """``whole``: the cards have a count for each note."""
    because = _obstacle(cards) if whole else None
    level = "shown" if not policy.exact else "recomputed" if whole and because is None else "totals"
    compared = bool(board.pairwise) and len(board.rows) <= MOST_ROWS
    told = _told(board, cards, level)
    return BoardProof(
        level=level,
        because=because,
        embedded=data_block(_shortened(to_builtins(told))),
        compared=compared,
        withheld=kept_back(board),
        cards=sum(map(len, told.cards)),
        resamples=board.config.resamples,
        orders=told.orders,
        stability=board.stability is not None,
        sites=any(row.sites for row in board.rows),
    )


def kept_back(board: Board) -> list[str]:
    """What the board withholds, in words where there are some."""
    return sorted({WITHHELD.get(pointer, f"`{pointer}`") for pointer in board.withheld})


def _obstacle(cards: Cards) -> str | None:
    """What the script leaves to the command line."""
    if sum(len(card.content) for of in cards.values() for card in of.values()) > MOST_BYTES:
        return "its score cards are too large for a page"
    return None


def _told(board: Board, cards: Cards, level: str) -> Embedded:
    rules, whole = board.config, level == "recomputed"
    pairs = board.pairwise if len(board.rows) <= MOST_ROWS or whole else ()
    tested = sum(pair.p is not None for pair in board.pairwise)
    draws = rules.resamples if chosen_test(rules) == "paired_bootstrap" else draws_of(rules, tested)
    several = len(board.gold) > 1 and rules.sites != "pooled"
    return Embedded(
        level=level,
        task=board.task,
        version=board.sandscore,
        challenge=rules.challenge,
        phase=board.phase,
        gold=list(board.gold.items()),
        log_root=board.log_root,
        seed=board.seed,
        seed_follows=rules.seed_rule == "names" or board.log_root is not None,
        rules=EmbeddedRules(
            headline=board.headline,
            aggregation=rules.aggregation,
            measures=rules.measures,
            sites=rules.sites,
            missing=rules.missing,
            test=chosen_test(rules),
            interval=rules.interval,
            tie_rule=rules.tie_rule,
            tie_break=rules.tie_break,
            numbering=rules.numbering,
            resamples=rules.resamples,
            draws=draws,
            adjustment=adjustment_of(rules),
        ),
        orders=bool(pairs) and not several,
        units=board.units,
        unit=resampled_unit(board),
        effective=board.effective_patients,
        formulas={name: _weights(measure) for row in board.rows for name, measure in row.measures.items()},
        rows=[_row(board, row, whole=whole) for row in board.rows],
        pairs=_pairs(board, pairs, draws),
        cards=[_texts(board, row, cards) for row in board.rows] if whole else [],
    )


def _texts(board: Board, row: Row, cards: Cards) -> list[str]:
    return [cards[row.submission][dataset].content.decode() for dataset in _datasets(board, row)]


def _datasets(board: Board, row: Row) -> list[str]:
    """Those that the row has a card for, in the board's order; the only one of a board has no name in its rows."""
    return [name for name in ("", *board.gold) if name in references(row)]


def _weights(measure: AnyMeasure) -> EmbeddedFormula:
    formula = parse_formula(measure.formula or F1)
    above, below = dict(formula.above), dict(formula.below)
    named = formula.components if isinstance(measure, ComponentMeasure) else COUNTS
    return EmbeddedFormula(
        components=named,
        above=[above.get(name, 0) for name in named],
        below=[below.get(name, 0) for name in named] if below else None,
        lower=measure.direction == "lower",
        least=FEW_LEAKING if isinstance(measure, RatioMeasure) else 0,
    )


def _row(board: Board, row: Row, *, whole: bool) -> EmbeddedRow:
    told = EmbeddedRow(
        name=row.submission,
        page=file_name(row.submission),
        rank=row.rank,
        rank_set=row.rank_set,
        group=row.group,
        measures={name: _measure(measure, whole=whole) for name, measure in row.measures.items()},
        score=row.score,
        created=row.created if "created" in board.config.tie_break else None,
    )
    if not whole:
        return told
    drawn = {name: getattr(row, name) for name in _DRAWN}
    found, named = _datasets(board, row), references(row)
    sites = [list(board.gold).index(name) if name else 0 for name in found]
    return replace(told, **drawn, cards=[(named[name].path, named[name].sha256) for name in found], sites=sites)


def _measure(measure: AnyMeasure, *, whole: bool) -> EmbeddedMeasure:
    if isinstance(measure, ComponentMeasure):
        counts = tuple(measure.numbers.values()) if measure.numbers is not None else None
    else:
        known = counts_of(measure.tp, measure.fp, measure.fn)
        counts = (known.tp, known.fp, known.fn) if known else None
    return EmbeddedMeasure(
        counts=counts,
        score=measure.ranked,
        precision=measure.precision,
        recall=measure.recall,
        reason=measure.reason,
        ci=measure.ranked_ci if whole else None,
    )


def _pairs(board: Board, pairs: Sequence[Pair], draws: int) -> list[list[int | None]]:
    """Every two rows in the board's order, as whole numbers: differences in ten-thousandths, p in draws."""
    if not pairs:
        return []
    known, scores = pairs_by_name(board), {row.submission: _score(board, row) for row in board.rows}
    names = list(scores)
    made = [
        [_untold(scores[a], scores[b], numbers[0]), *numbers[1:]]
        for at, a in enumerate(names)
        for b in names[at + 1 :]
        for numbers in [_numbers(known, a, b, draws + 1)]
    ]
    return [list(column) for column in zip(*made, strict=True)]


def _score(board: Board, row: Row) -> float | None:
    """As it stands in the page."""
    measure = row.measures.get(board.headline)
    score: float | None = _shortened(row.score if row.score is not None else measure.ranked if measure else None)
    return score


def _untold(a: float | None, b: float | None, delta: int | None) -> int | None:
    """Nothing where the script makes the same difference of the scores; false where there is none although it could."""
    if a is None or b is None:
        return delta
    return False if delta is None else None if delta == floor((a - b) * DIGITS + 0.5) else delta


def _numbers(known: Mapping[tuple[str, str], Pair], a: str, b: str, scale: int) -> list[int | None]:
    pair, turned = known.get((a, b)), False
    if pair is None:
        pair, turned = known.get((b, a)), True
    if pair is None:
        return [None] * 8
    sign = -1 if turned else 1
    delta = _whole(None if pair.delta is None else sign * pair.delta, DIGITS)
    below = above = None
    if pair.delta_ci is not None and delta is not None:
        low, high = sorted(round(sign * end * DIGITS) for end in pair.delta_ci)
        below, above = delta - low, high - delta
    wins = None if pair.wins is None else 1 - pair.wins if turned else pair.wins
    won, _, lost = (pair.patients[::sign] if pair.patients else None) or (None, None, None)
    return [
        delta,
        below,
        above,
        *(_whole(p, scale) for p in (pair.p, pair.adjusted)),
        _whole(wins, DIGITS),
        won,
        lost,
    ]


def _shortened(told: Any) -> Any:
    """Numbers to half a billionth: the script holds them to a billionth, and longer ones make a page larger."""
    if isinstance(told, float):
        return round(told, 9) if abs(told) < 1 else float(f"{told:.10g}")
    if isinstance(told, dict):
        return {name: _shortened(value) for name, value in told.items()}
    return [_shortened(value) for value in told] if isinstance(told, list | tuple) else told


def _whole(value: float | None, scale: int) -> int | None:
    return None if value is None else round(value * scale)


def data_block(told: object) -> Markup:
    """JSON for a page, which no name can end, and which holds nothing invisible."""
    text = json.dumps(told, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704
