"""Attacks on hidden gold by designed submissions: what they learn is at most what the ledger says.

Gold is drawn: each of 1,152 marks is there or not, like a thrown coin, so that whoever knows nothing guesses with a
half. What an attacker has learnt is what a bet on each mark wins: log2 of twice the share that was put on the truth,
added up. By information theory no bet wins more on average than the bits that were told.
"""

import json
import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import Struct, field
from numpy.typing import NDArray
from ranking_cards import as_entry, card_content

from sandscore import api
from sandscore.base.bundled_content import example_gold
from sandscore.disclosure.board_release import release_board
from sandscore.disclosure.card_view import CardItem
from sandscore.disclosure.gate import release
from sandscore.disclosure.problem_view import ProblemsItem, ShownProblems
from sandscore.disclosure.released import Audience
from sandscore.ranking.board_building import rank
from sandscore.ranking.card_reading import RankedCard
from sandscore.records.board import Board
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.problem import Problem
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import Scorecard
from sandscore.records.totals_card import TotalsCard

pytestmark = pytest.mark.slow

NOTES, MARKS, FILES = 72, 16, 70
QUICK = BoardRules(resamples=100, randomisations=99)
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class House(Struct):
    """What holds the gold, scores files, and lets out what the policy allows; ``bits`` is its ledger."""

    policy: DisclosurePolicy
    gold: Bools
    bits: float = 0.0
    files: int = 0
    told: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, predicted: Bools) -> dict[str, Any]:
        """Everything about one file that reaches anybody: its row of the board, and its card."""
        right = predicted & self.gold
        rows = np.stack([right, predicted & ~right, self.gold & ~right]).reshape(3, NOTES, MARKS).sum(axis=2).T
        self.files += 1
        name = f"file{self.files}"
        entry, board = ranked(name, tuple((int(a), int(b), int(c)) for a, b, c in rows))
        made = release_board(
            board, [entry], self.policy, place=lambda entry: f"{entry.submission}.json", salt=b"secret"
        )
        self.bits += made.board.line.bits + sum(card.released.line.bits for card in made.cards.values())
        [row] = json.loads(made.board.view.model_dump_json())["rows"]
        cards = [card.released.view for card in made.cards.values()]
        self.told.append({"row": row, "card": cards[0] if cards else None})
        return self.told[-1]


@cache
def ranked(name: str, rows: tuple[tuple[int, int, int], ...]) -> tuple[RankedCard, Board]:
    """The exact card and board, which no policy changes."""
    entry = as_entry(card_content(name, rows))
    return entry, rank([entry], QUICK)


def hits(answer: dict[str, Any], size: int) -> float | None:
    """How many of the file's marks are right: as counted, or as its F1 says where half of all marks are gold."""
    measure = answer["row"]["measures"].get("instance_strict", {})
    if measure.get("tp") is not None:
        return float(measure["tp"])
    if measure.get("f1") is None:
        return None
    return float(measure["f1"] * (size + NOTES * MARKS / 2) / 2)


def weigh(house: House, draws: np.random.Generator) -> Floats:
    """Seventy random halves, one linear regression: for each mark the share to bet on its being gold."""
    halves = draws.random((FILES, house.gold.size)) < 0.5
    found = [hits(house.answer(half), int(half.sum())) for half in halves]
    if None in found:
        return np.full(house.gold.size, 0.5)
    signs = halves - 0.5
    sums = np.array(found, np.float64) - halves.sum(axis=1) / 2
    noise = 1.0 if house.policy.exact else 40.0
    learnt = signs.T @ np.linalg.solve(signs @ signs.T + noise * np.eye(FILES), sums - sums.mean())
    return np.clip(0.5 + learnt, 0.02, 0.98)


def climb(house: House, draws: np.random.Generator) -> Floats:
    """From a random half, turn some marks round and keep what the shown score calls better."""
    best = draws.random(house.gold.size) < 0.5
    score = hits(house.answer(best), int(best.sum()))
    for _ in range(FILES - 1):
        tried = best ^ (draws.random(house.gold.size) < 0.05)
        reached = hits(house.answer(tried), int(tried.sum()))
        if score is not None and reached is not None and reached > score:
            best, score = tried, reached
    return np.where(best, 0.55, 0.45)


def won(bet: Floats, gold: Bools) -> float:
    """The bits that the bet wins."""
    return float(np.log2(2 * np.where(gold, bet, 1 - bet)).sum())


POLICIES = {
    f"{feedback}, {cards}, {'ended' if ended else 'running'}": DisclosurePolicy(
        cards=cards, feedback=feedback, ended=ended, accepted=cards == "notes"
    )
    for feedback in ("rounded", "ladder", "blind")
    for cards in ("none", "totals", "notes")
    for ended in (True, False)
}
"""Every policy with hidden gold; full feedback on hidden gold is rounded."""


@pytest.mark.parametrize("attack", [weigh, climb])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_no_attack_learns_more_than_the_ledger_says(
    policy: DisclosurePolicy, attack: Callable[[House, np.random.Generator], Floats]
) -> None:
    draws = np.random.default_rng(20260101)
    house = House(policy, draws.random(NOTES * MARKS) < 0.5)
    bet = attack(house, draws)
    learnt = won(bet, house.gold)
    assert learnt <= house.bits + chance(bet)
    assert (house.bits == 0) == (policy.feedback == "blind" and not policy.ended)
    if house.bits == 0:
        right = np.count_nonzero((bet > 0.5) == house.gold)
        assert abs(right - bet.size / 2) < 4 * math.sqrt(bet.size) / 2
        assert len({json.dumps(told["row"] | {"submission": 0, "team": 0}) for told in house.told}) == 1


def chance(bet: Floats) -> float:
    """What luck alone may win: four standard deviations of the bet where nothing is known."""
    return 4 * math.sqrt(float((np.log2(bet / (1 - bet)) ** 2).sum()) / 4)


def test_the_weighing_works_where_counts_are_told() -> None:
    """The attack is no straw man: by exact counts it wins more than chance has."""
    draws = np.random.default_rng(20260101)
    house = House(POLICIES["blind, totals, ended"], draws.random(NOTES * MARKS) < 0.5)
    bet = weigh(house, draws)
    assert won(bet, house.gold) > chance(bet) / 2
    assert np.count_nonzero((bet > 0.5) == house.gold) > bet.size / 2 + 2 * math.sqrt(bet.size) / 2


# Rows for each note, on the bundled example: whoever holds the notes sends files of single words

WORDS = re.compile(r"\w+(?:[-/.:,]\w+)*")
LIKE_DATES = re.compile(r"\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
Token = tuple[int, int]


class Designed(Struct):
    """Seventy files that mark a random half of all words that look like part of a date; and what came back."""

    candidates: dict[str, list[Token]]
    marked: dict[str, Bools]
    cards: list[Scorecard]


@pytest.fixture(scope="module")
def designed() -> Designed:
    draws = np.random.default_rng(7)
    notes = {one["identifier"]: one["text"] for one in json.loads((example_gold() / "notes.json").read_bytes())}
    words = {note: [(m.start(), len(m[0])) for m in WORDS.finditer(text)] for note, text in notes.items()}
    candidates = {
        note: [(at, size) for at, size in found if LIKE_DATES.match(notes[note][at : at + size])]
        for note, found in words.items()
    }
    marked = {note: draws.random((FILES, len(found))) < 0.5 for note, found in candidates.items()}
    cards = []
    for at in range(FILES):
        records = [
            {
                "annotationSource": {"resourceSource": {"name": note}},
                "textDateAnnotations": [
                    {"start": start, "length": size, "text": notes[note][start : start + size]}
                    for (start, size), chosen in zip(found, marked[note][at], strict=True)
                    if chosen
                ],
            }
            for note, found in candidates.items()
        ]
        gold, texts = example_gold() / "date.json", example_gold() / "notes.json"
        result = api.score(
            "date", gold=gold, predictions=json.dumps(records).encode(), notes=texts, submission=f"f{at}"
        )
        cards.append(result.card)
    return Designed(candidates, marked, cards)


def gold_tokens() -> dict[str, set[Token]]:
    """White-space tokens of gold's annotations: what the measure token counts."""
    found: dict[str, set[Token]] = {}
    for record in json.loads((example_gold() / "date.json").read_bytes()):
        name = record["annotationSource"]["resourceSource"]["name"].rpartition("/")[2]
        found[name] = {
            (one["start"] + m.start(), len(m[0]))
            for one in record["textDateAnnotations"]
            for m in re.finditer(r"\S+", one["text"])
        }
    return found


def solved(halves: Bools, counts: Floats) -> list[int]:
    """The words that so many sums say are gold for certain: no other answer to the equations exists."""
    if np.linalg.matrix_rank(halves.astype(float)) < halves.shape[1]:
        return []
    answer = np.rint(np.linalg.lstsq(halves.astype(float), counts, rcond=None)[0])
    assert (halves @ answer == counts).all()
    return [int(at) for at in np.flatnonzero(answer == 1)]


def test_rows_for_each_note_give_gold_away(designed: Designed) -> None:
    """Hashes hide names alone: a file's own marks in each note say which row is whose. The docs print the figure."""
    policy = DisclosurePolicy(cards="notes", ended=True, accepted=True)
    views = [release(CardItem(card=card, salt=b"secret"), Audience.PUBLIC, policy) for card in designed.cards]
    released = [one.view for one in views if isinstance(one.view, Scorecard)]
    assert len(released) == FILES
    rows = {name: np.array([card.per_note[name]["token"] for card in released]) for name in released[0].per_note}
    whose = {tuple(marked.sum(axis=1)): note for note, marked in designed.marked.items()}
    truth, away = gold_tokens(), 0
    for name, counts in rows.items():
        note = whose[tuple(counts[:, 0] + counts[:, 1])]
        assert name != note
        found = {designed.candidates[note][at] for at in solved(designed.marked[note], counts[:, 0].astype(float))}
        assert found <= truth[note], "without an error"
        away += len(found)
    everything = sum(map(len, truth.values()))
    assert sum(one.line.bits for one in views) > everything
    docs = (Path(__file__).resolve().parents[2] / "docs" / "organisers.md").read_text(encoding="utf-8")
    assert f"**{away:,} of its {everything:,} gold tokens without an error**" in " ".join(docs.split())


def test_totals_of_the_same_files_give_no_token_away(designed: Designed) -> None:
    """Seventy sums over thousands of words: none of them is certain, because none is determined."""
    policy = DisclosurePolicy(cards="totals", ended=True)
    views = [release(CardItem(card=card), Audience.PUBLIC, policy).view for card in designed.cards]
    assert all(isinstance(view, TotalsCard) for view in views)
    halves = np.concatenate(list(designed.marked.values()), axis=1).astype(float)
    _, strengths, directions = np.linalg.svd(halves, full_matrices=False)
    kept = directions[strengths > 1e-9]
    assert float((kept**2).sum(axis=0).max()) < 0.1, "a word that is determined would have 1 here"


# Probing with faulty files

PLACES = ("text-mismatch", "out-of-bounds", "unknown-note")


@pytest.mark.parametrize("count", [1, 3, 40, 5_000])
def test_invalid_files_do_not_tell_notes_apart(count: int) -> None:
    """Wrong text, past the end, no such note: one code, no count; so a probe tells one bit, and the ledger more."""
    policy = DisclosurePolicy()
    views = []
    for code in PLACES:
        problems = [
            Problem(code, "error", f"/{at}", "101-01", f"'{at}' is not there; it stands at 7") for at in range(3)
        ]
        one = release(ProblemsItem(problems=problems, counts={code: count}), Audience.TEAM, policy)
        views.append(one.view)
        assert one.line.bits >= 1
    assert views[0] == views[1] == views[2] == ShownProblems([], {"does-not-fit-notes": None})
