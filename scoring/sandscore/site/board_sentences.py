"""The sentences that pages say of a board: who leads, how sure that is, what is missed, what is hidden.

Every one follows from the board's own numbers and from the released cards'. Who leads follows from rank sets, never
from intervals; of two rows is said what the test of that pair says.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property

from markupsafe import Markup
from msgspec import Struct

from sandscore.base.terminal_text import on_page
from sandscore.ranking.board_exports import lower_is_better, resampled_unit, score_name
from sandscore.ranking.pair_tests import ALPHA, chosen_test, draws_of
from sandscore.records.board import Board, Pair, Row
from sandscore.records.challenge import Challenge
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.withheld_fields import policy_on
from sandscore.site.page_text import bayes_factor, p_value, places, ratio
from sandscore.site.plain_names import finding_of, plain_measure, things_of
from sandscore.site.row_titles import RowTitle, row_titles, teams_among
from sandscore.site.safety_lane import NoteLeak

NAMED = 3
"""Leaders who are named; more are counted."""
_STRONG, _WEAK = 20.0, 3.0
_MODES = {"rounded": "rounded scores", "ladder": "the Ladder", "blind": "no scores yet"}
_TESTS = {"randomisation": "approximate randomisation", "paired_bootstrap": "paired bootstrap"}
_INTERVALS = {"percentile_t": "studentised", "percentile": "percentile", "bca": "BCa"}
_RULES = {"dream_k3": "DREAM’s K exceeds 3", "dream_k19": "DREAM’s K exceeds 19"}


class Floors(Struct, frozen=True):
    """The smallest p and the largest K that so many draws can show."""

    p: float
    k: float

    def p_text(self, pair: Pair | None, adjusted: float | None) -> str:
        """An adjusted p; at its floor where no draw was as far apart as the pair."""
        floored = pair is not None and pair.p is not None and pair.p <= self.p * (1 + 1e-9)
        return p_value(adjusted, floored=floored)

    def k_text(self, k: float | None) -> str:
        return bayes_factor(k, ceiling=self.k)


class BoardSentences(Struct, frozen=True, dict=True):
    """All that is said of one board; ``leaks`` by submission, ``cards`` counts those that recompute it."""

    board: Board
    titles: Mapping[str, RowTitle]
    leaks: Mapping[str, NoteLeak]
    challenge: Challenge | None = None
    cards: int = 0

    @property
    def policy(self) -> DisclosurePolicy:
        """By which the board is shown as it is."""
        return policy_on(self.board.policy, self.board.config)

    @property
    def unit(self) -> str:
        """What was drawn again, and of which the board speaks."""
        return resampled_unit(self.board)

    @property
    def heading(self) -> str:
        return f"Finding {things_of(self.board)} in clinical notes"

    @property
    def counts(self) -> list[str]:
        """How many compete, over how many patients, and how the phase stands."""
        parts = [_crowd(self.board.rows), _number(self.board.units, self.unit)]
        phase, state = self.board.phase, self.state
        return [*parts, f"{phase}, {state}" if phase and state else phase or state] if phase or state else parts

    @property
    def state(self) -> str:
        """Of the phase: open, or closed, and when, as far as anybody says."""
        closes = self._closes
        if self.board.config.ended:
            return f"closed {_day(closes)}" if closes else "closed"
        if not self.policy.exact:
            return f"open until {_day(closes)}" if closes else "open"
        return f"closes {_day(closes)}" if closes else ""

    @property
    def badge(self) -> str | None:
        """Of a board that hides its scores."""
        return None if self.policy.exact else f"open: {_MODES[self.policy.feedback]}"

    @property
    def hidden(self) -> list[str]:
        """What an open phase keeps back, and until when."""
        if self.policy.exact:
            return []
        step = f"1/{self.board.units} ({1 / self.board.units:.3f})" if self.board.units else "one patient’s worth"
        said = {
            "rounded": "Scores are rounded to steps at least as wide as their standard error.",
            "ladder": "This is the Ladder: each team shows one score, and a new one only where it is better by more "
            f"than the standard error of the difference. It is told in steps of {step}.",
            "blind": "No score is shown before the phase ends.",
        }
        until = f"when the phase closes on {_day(self._closes)}" if self._closes else "when the phase ends"
        return [
            said[self.policy.feedback],
            f"Exact scores, intervals, tests and places are kept back and follow {until}.",
        ]

    @property
    def contenders(self) -> Sequence[Row]:
        """The rows that nobody is demonstrably better than."""
        return [row for row in self.board.rows if row.rank_set is not None and row.rank_set[0] == 1]

    @property
    def others(self) -> Sequence[Row]:
        """The rows with places that cannot be the first."""
        return [row for row in self.board.rows if row.rank_set is not None and row.rank_set[0] > 1]

    @property
    def unscored(self) -> Sequence[Row]:
        return [row for row in self.board.rows if row.rank_set is None]

    @property
    def lead(self) -> Markup:
        """Who leads."""
        rows = self.contenders
        if not self.board.rows:
            return Markup("Nobody is on this board yet.")
        if not self.policy.exact:
            return self._running
        if not rows:
            return Markup("Nobody on this board has a score.")
        if len(self.board.rows) == 1:
            return _said("{who} is alone on this board.", who=self.name(rows[0]))
        if len(rows) <= NAMED:
            return _said("{who} {lead}.", who=_listed(map(self.name, rows)), lead=_verb(rows, "lead"))
        return _said("{crowd} share the lead.", crowd=_crowd(rows))

    @property
    def doubt(self) -> str | None:
        """What the test says of those who lead."""
        rows = self.contenders
        if not self.policy.exact or not rows or len(self.board.rows) == 1:
            return None
        if len(rows) > 1:
            return f"This test cannot say which {'is better' if len(rows) == 2 else 'of them is best'}."
        if rows[0].rank_set == (1, 1):
            return "The test tells it from everybody else."
        return "Everybody else is demonstrably behind somebody."

    @property
    def _running(self) -> Markup:
        """Who stands first by what is shown."""
        first = [row for row in self.board.rows if row.rank is not None and row.rank == self.board.rows[0].rank]
        if not first:
            return Markup("Nobody leads yet.")
        if len(first) <= NAMED:
            verb = _verb(first, "stand")
            return _said("{who} {verb} first for now.", who=_listed(map(self.name, first)), verb=verb)
        return _said("{crowd} stand first for now, with one shown score.", crowd=_crowd(first))

    @property
    def found(self) -> str | None:
        """What those who lead find of what gold holds."""
        totals = [self._recall(row) for row in self.contenders]
        known = [total for total in totals if total is not None]
        if not known or len(known) < len(totals):
            return None
        share = _share_of_all(known)
        said = finding_of(self.board.headline, "finds" if len(known) == 1 else "find", share, things_of(self.board))
        return f"{'The leader' if len(known) == 1 else 'The leaders'} {said}." if said else None

    @property
    def leak(self) -> str | None:
        """In how many notes at least one slips through those who lead."""
        told = [self.leaks[row.submission].share for row in self.contenders if row.submission in self.leaks]
        known = [share for share in told if share is not None]
        if not known or len(known) < len(self.contenders):
            return None
        return f"In {_per_hundred(known)} notes that hold any, at least one slips through, if only in part."

    @property
    def patient_leaks(self) -> list[Markup]:
        """Of each who leads, the patients of whom something slips through, and the bound of patients to come."""
        rows = [row for row in self.contenders[:NAMED] if row.submission in self.leaks]
        said = "{who}: {count} {unit} have something slip through; of {unit} like these, {bound} (95 %)."
        return [
            _said(said, who=self.name(row), count=leak.text, unit=self.unit, bound=leak.bound_text)
            for row in rows
            if (leak := self.leaks[row.submission].patients) is not None
        ]

    @property
    def ceiling(self) -> list[str]:
        """How well the annotators of gold agree with each other, data set by data set."""
        said = []
        for name, found in self.board.agreement.items():
            where = f"The gold{f' of {on_page(name)}' if len(self.board.gold) > 1 else ''}"
            exact, words = ratio(found.strict_f1), ratio(found.token_kappa)
            said.append(
                f"{where} is that of {found.annotators} annotators, and scores are against all of them together. "
                f"Held against each other they reach an F1 of {exact} on exact spans and a Cohen’s kappa of {words} "
                "on words, which is about what a person can reach here."
            )
        return said

    @property
    def sure(self) -> list[Markup]:
        """How sure the lead is: how often it would be theirs, and what to expect of them."""
        rows = self.contenders if len(self.contenders) <= NAMED else self.contenders[:1]
        ranked = sum(row.p_first is not None for row in self.board.rows)
        said = []
        for row in rows if ranked > 1 else ():
            if row.p_first is not None:
                drawn = _redraws(row.p_first, self.board.config.resamples, self.unit)
                said.append(_said("{who} is first of {all} in {drawn}.", who=self.name(row), all=ranked, drawn=drawn))
        for row in rows:
            if row.expected is not None and row.chosen_ci is not None:
                low, high = map(ratio, row.chosen_ci)
                text = "Expected of {who} on new {unit}: {score} ({low}–{high})."
                known = {"unit": self.unit, "score": ratio(row.expected), "low": low, "high": high}
                said.append(_said(text, who=self.name(row), **known))
        return said

    @property
    def clash(self) -> Markup | None:
        """Why K, first places and the adjusted p seem to disagree, where they do."""
        tested = sum(pair.p is not None for pair in self.board.pairwise)
        why = (
            "K and first places ask how often a row wins when the {unit} are drawn again, one pair at a time; the "
            "adjusted p asks how often chance alone makes a gap as wide anywhere among all {pairs} pairs."
        )
        for row in self.board.rows[1:]:
            if row.k is None or row.p_vs_leader is None:
                continue
            sure, apart = row.k > _STRONG, row.p_vs_leader <= ALPHA
            if sure == apart or (apart and row.k > _WEAK):
                continue
            return _said(
                "K against {who} is {k}, and its adjusted p is {p}: the two need not agree. " + why,
                who=self.name(row),
                k=self.floors.k_text(row.k),
                p=self.p_of(row),
                unit=self.unit,
                pairs=tested,
            )
        return None

    @property
    def behind(self) -> str | None:
        """Those who do not lead, counted."""
        parts = []
        if self.others:
            parts.append(f"{_others(self.others, self.contenders)}, clearly behind")
        if self.unscored and self.policy.exact:
            parts.append(f"{len(self.unscored)} without a score")
        return ", ".join(parts) or None

    @property
    def recomputing(self) -> str:
        """From how many cards the board can be recomputed."""
        return f"Can be recomputed from {_number(self.cards, 'cards')}" if self.cards else "Cards are kept back"

    @property
    def made(self) -> Sequence[tuple[str, str]]:
        """How the numbers were made, by title."""
        rules, seed = self.board.config, "challenge, phase, gold and measure"
        if self.board.log_root:
            seed += ", and from the root of the log when the phase opened: nobody picks it"
        facts = [("Seed", f"{self.board.seed}, which follows from {seed}")]
        if not self.policy.exact:
            return facts
        drawn = f"{rules.resamples:,} bootstrap resamples of {_number(self.board.units, self.unit)}"
        test = _TESTS[chosen_test(rules)]
        how = {"stepdown": "a stepdown over the same coins", "holm": "Holm’s method"}[self.board.adjustment]
        tested = sum(pair.p is not None for pair in self.board.pairwise)
        groups = _RULES.get(rules.tie_rule, "the test tells a row from the first of its group")
        return [
            ("Intervals", f"{drawn}, {_INTERVALS[rules.interval]}, 95 %"),
            ("Test", f"{test} of {_number(tested, 'pairs')}, adjusted for their number by {how}"),
            ("Tie groups", f"a new group begins where {groups}"),
            *facts,
        ]

    @property
    def measured(self) -> Markup:
        """By what the rows are ranked."""
        name = self.board.headline
        what = _said('<span title="{id}">{plain}</span>', id=name, plain=on_page(plain_measure(name)))
        score = score_name(self.board)
        if self.board.config.aggregation != "headline":
            return _said("Ranked by an aggregate of several scores; the first is for {what}.", what=what)
        lower = "; lower is better" if lower_is_better(self.board) else ""
        return _said("Ranked by {what} ({score}{lower}).", what=what, score=score, lower=lower)

    @property
    def drawn(self) -> str:
        """What the drawing of the scores shows."""
        if not self.has_intervals:
            return "The dot is the score that is shown."
        return (
            f"The dot is the score, the line the {self.interval}, the pale band that of the first row. Whether two "
            "rows differ is what the test of the two says, not whether their lines overlap."
        )

    @property
    def interval(self) -> str:
        """What the interval beside a score is."""
        chosen = any(row.chosen_ci for row in self.board.rows)
        return f"95 % interval{' that allows for the choice' if chosen else ''}"

    @property
    def strip(self) -> str:
        """What the strip of those who lead shows."""
        line = f", the line its {self.interval}" if self.has_intervals else ""
        return f"The dot is the score{line}."

    @property
    def repeated(self) -> str:
        """What the redraws say of the order."""
        stability = self.board.stability
        held = "The bar spans the places a row may really hold, the dot is its place today."
        if stability is None or stability.kendall_tau.mean is None:
            return held
        low, _, high = stability.kendall_tau.q
        return (
            f"Rankings of {self.board.config.resamples:,} resamples agree with this one by Kendall’s tau-b of "
            f"{ratio(stability.kendall_tau.mean, 2)} on average (95 %: {ratio(low, 2)} to {ratio(high, 2)}; 1 is the "
            f"same order). {held}"
        )

    @property
    def has_intervals(self) -> bool:
        """Whether any row shows one."""
        return any(
            row.chosen_ci or row.score_ci or ((found := row.measures.get(self.board.headline)) and found.ranked_ci)
            for row in self.board.rows
        )

    @property
    def has_places(self) -> bool:
        """Whether any row has places and a tie group."""
        return any(row.rank_set is not None for row in self.board.rows)

    @property
    def groups(self) -> str:
        """What a tie group is on this board."""
        rule = _RULES.get(self.board.config.tie_rule, "the test tells a row from the first of its group")
        return f"A new tie group begins where {rule}; of any other two rows it says nothing."

    @cached_property
    def floors(self) -> Floors:
        rules = self.board.config
        if chosen_test(rules) == "paired_bootstrap":
            draws = rules.resamples
        else:
            draws = draws_of(rules, sum(pair.p is not None for pair in self.board.pairwise))
        return Floors(1 / (draws + 1), 2 * rules.resamples)

    @property
    def floor_note(self) -> str | None:
        """What is at its floor on this board."""
        said = []
        if any("≤" in self.p_of(row) for row in self.board.rows):
            said.append("“≤” before a p: the smallest possible with this many draws")
        if any(row.k is not None and row.k > self.floors.k for row in self.board.rows):
            said.append(f"K “>{self.floors.k:,.0f}”: not one of {self.board.config.resamples:,} redraws was lost")
        return f"{'; '.join(said)}." if said else None

    def p_of(self, row: Row) -> str:
        """The adjusted p against the leader."""
        return self.floors.p_text(self._against_leader.get(row.submission), row.p_vs_leader)

    def name(self, row: Row) -> Markup:
        """As it stands in a sentence."""
        return Markup("<bdi>{}</bdi>").format(on_page(self.titles[row.submission].label))

    def standing(self, row: Row) -> str | None:
        """Where a row may stand, for its own page."""
        if row.rank_set is None:
            return None
        low, high = row.rank_set
        ranked = len(self.contenders) + len(self.others)
        held = f"It may hold {'place' if low == high else 'places'} {places(row.rank_set)} of {ranked}"
        return f"{held}: {low - 1} demonstrably better, {ranked - high} demonstrably worse."

    @cached_property
    def _against_leader(self) -> Mapping[str, Pair]:
        leader = self.board.rows[0].submission
        return {
            pair.b if pair.a == leader else pair.a: pair for pair in self.board.pairwise if leader in {pair.a, pair.b}
        }

    @property
    def _closes(self) -> datetime | None:
        phases = self.challenge.phases if self.challenge is not None else ()
        return next((phase.closes for phase in phases if phase.name == self.board.phase), None)

    def _recall(self, row: Row) -> tuple[int, int] | None:
        measure = row.measures.get(self.board.headline)
        if measure is None or measure.tp is None or measure.fn is None or not measure.tp + measure.fn:
            return None
        return measure.tp, measure.tp + measure.fn


def sentences_of(
    board: Board, leaks: Mapping[str, NoteLeak], challenge: Challenge | None = None, cards: int = 0
) -> BoardSentences:
    return BoardSentences(board, row_titles(board.rows), leaks, challenge, cards)


def site_sentence(boards: Sequence[BoardSentences]) -> str:
    """How many boards there are, and how many of them hide their scores."""
    hidden = sum(said.badge is not None for said in boards)
    return f"{_number(len(boards), 'boards')}{f', {hidden} of them in an open phase' if hidden else ''}."


def _said(text: str, **values: object) -> Markup:
    """A sentence of ours around values that are escaped where they are no markup already."""
    return Markup(text).format(**values)  # noqa: S704 (the sentences are ours)


def _listed(names: Iterable[Markup]) -> Markup:
    *before, last = names
    return Markup(" and ").join([Markup(", ").join(before), last]) if before else last


def _verb(rows: Sequence[Row], verb: str) -> str:
    return f"{verb}s" if len(rows) == 1 else verb


def _number(count: int, many: str) -> str:
    return f"{count:,} {many[:-1] if count == 1 else many}"


def _crowd(rows: Sequence[Row]) -> str:
    """Teams where each has one row, else submissions."""
    teams = teams_among(rows)
    if all(row.team for row in rows) and rows:
        if teams == len(rows):
            return _number(teams, "teams")
        return f"{_number(len(rows), 'submissions')} of {_number(teams, 'teams')}"
    return _number(len(rows), "submissions")


def _others(rows: Sequence[Row], leaders: Sequence[Row]) -> str:
    if not leaders:
        return _crowd(rows)
    return "1 other" if len(rows) == 1 else f"{len(rows):,} others"


def _day(when: datetime | None) -> str:
    return when.date().isoformat() if when else ""


def _whole(share: float) -> str:
    """Of a hundred, and never a rounded certainty."""
    if 0 < share < 0.005:
        return "fewer than 1"
    if 0.995 < share < 1:
        return "more than 99"
    return f"{100 * share:.0f}"


def _per_hundred(shares: Sequence[float]) -> str:
    low, high = _whole(min(shares)), _whole(max(shares))
    return f"{low} of 100" if low == high else f"{low} to {high} of 100"


def _share_of_all(totals: Sequence[tuple[int, int]]) -> str:
    """Of a hundred; of as many as there are where they are fewer."""
    wholes = {whole for _, whole in totals}
    if len(wholes) == 1 and (whole := wholes.pop()) < 100:
        low, high = min(part for part, _ in totals), max(part for part, _ in totals)
        return f"{low if low == high else f'{low} to {high}'} of {whole}"
    return _per_hundred([part / whole for part, whole in totals])


def _redraws(share: float, resamples: int, unit: str) -> str:
    if share in {0.0, 1.0}:
        return f"{'all' if share else 'none'} of {resamples:,} redraws of the {unit}"
    return f"{_whole(share)} of 100 redraws of the {unit}"
