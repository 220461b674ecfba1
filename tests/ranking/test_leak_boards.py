"""Boards by leaks: bounds beside shares, no interval of too few patients, order, ties, verification, CSV."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from leak_corpora import MaskedNote, card_of, of_length

from sandscore.board_tables.board_formats import as_csv, as_text
from sandscore.disclosure.feedback_view import as_public
from sandscore.leaks.leak_bounds import clustered_upper, exact_upper
from sandscore.measures.measure import DocumentMeasure
from sandscore.measures.measure_registry import MEASURES
from sandscore.ranking.board_building import rank
from sandscore.ranking.card_reading import card_entry
from sandscore.ranking.resampling import f1_replicates
from sandscore.ranking.score_table import tabulate
from sandscore.records.board import Board, RatioMeasure
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import dumped
from sandscore.verification.board_verification import verify

ASKED = (
    "patient_leak",
    "char_leak",
    "note_leak",
    "entity_leak",
    "mention_leak",
    "over_mask",
    "char_precision",
    "char_f",
)


def leaking(patients: int, leaks: Sequence[int], name: str, notes: int = 1) -> Scorecard:
    """Of each patient so many notes; the first notes of the given patients leave a name open."""
    given = [
        MaskedNote(
            f"n{p}-{n}", f"p{p}", of_length(20), [(2, 8, "NAME", f"e{p}")], [] if n == 0 and p in leaks else [(2, 8)]
        )
        for p in range(patients)
        for n in range(notes)
    ]
    return card_of(given, *ASKED).model_copy(update={"submission": name})


def ranked(folder: Path, headline: str, *cards: Scorecard) -> Board:
    """As files are ranked."""
    for card in cards:
        (folder / f"{card.submission}.json").write_bytes(dumped(card))
    entries = [card_entry(dumped(card), f"{card.submission}.json") for card in cards]
    return rank(entries, BoardRules(headline=headline, resamples=200, randomisations=199))


def shares(board: Board, measure: str) -> dict[str, RatioMeasure]:
    found = {row.submission: row.measures[measure] for row in board.rows}
    return {name: one for name, one in found.items() if isinstance(one, RatioMeasure)}


def test_a_share_is_what_leaks_of_all(tmp_path: Path) -> None:
    """One of four patients leaks: a share of a quarter, as the board says it."""
    board = ranked(tmp_path, "patient_leak", leaking(4, [1], "X"), leaking(4, [], "Y"))
    told = shares(board, "patient_leak")
    assert [(told[name].n, told[name].of, told[name].value, told[name].reason) for name in "XY"] == [
        (1, 4, 0.25, None),
        (0, 4, 0.0, None),
    ]


def test_one_leak_of_118_and_none_are_a_tie(tmp_path: Path) -> None:
    """Bounds .039570 and .025068; one discordant patient has an exact McNemar p of 1."""
    board = ranked(tmp_path, "patient_leak", leaking(118, [3], "X"), leaking(118, [], "Y"))
    assert [row.submission for row in board.rows] == ["Y", "X"]
    assert [row.group for row in board.rows] == [1, 1]
    assert board.pairwise[0].p == 1
    told = shares(board, "patient_leak")
    assert told["X"].bound == pytest.approx(0.039570, abs=1e-6)
    assert told["Y"].bound == pytest.approx(0.025068, abs=1e-6)
    for measure in ("patient_leak", "char_leak", "note_leak", "entity_leak", "mention_leak", "over_mask"):
        assert [one.ci for one in shares(board, measure).values()] == [None, None], "no interval of fewer than five"
    assert all(row.chosen_ci is None and row.expected is None for row in board.rows)
    told = shares(board, "note_leak")
    assert (told["X"].bound, told["X"].bound_clustered) == (exact_upper(1, 118), None)


def test_from_five_patients_on_there_are_intervals(tmp_path: Path) -> None:
    board = ranked(tmp_path, "char_leak", leaking(30, range(5), "five", 2), leaking(30, range(9), "nine", 2))
    assert [row.submission for row in board.rows] == ["five", "nine"]
    five = shares(board, "char_leak")["five"]
    assert (five.n, five.of, five.bound) == (30, 360, None)
    assert five.ci is not None
    assert 0 < five.ci[0] < 30 / 360 < five.ci[1]
    # by Korn and Graubard: 5 of 60 notes, 25 patients without a leak and 5 with 1 of 2
    note = shares(board, "note_leak")["five"]
    assert note.bound_clustered == clustered_upper([1] * 5 + [0] * 25, [2] * 30)
    assert note.bound == exact_upper(5, 30)
    assert Board.model_validate_json(board.model_dump_json()) == board


@pytest.mark.parametrize("headline", ASKED)
def test_any_of_them_ranks_and_is_verified(headline: str, tmp_path: Path) -> None:
    cards = [leaking(12, leaks, name) for name, leaks in (("six", range(6)), ("one", [1]), ("none", []))]
    board = ranked(tmp_path, headline, *cards)
    if headline not in {"over_mask", "char_precision"}:
        assert [row.submission for row in board.rows] == ["none", "one", "six"]
    (tmp_path / "board.json").write_text(board.model_dump_json(), encoding="utf-8")
    assert verify(tmp_path / "board.json").level == "recomputed"
    rows = [*csv.DictReader(io.StringIO(as_csv(board)))]
    first = next(row for row in rows if row["submission"] == "none")
    assert (first["patient_leak.n"], first["patient_leak.of"], first["patient_leak.direction"]) == ("0", "12", "lower")
    assert float(first["patient_leak.bound"]) == pytest.approx(1 - 0.05 ** (1 / 12))
    assert first["patient_leak.bound_level"] == "0.95"
    assert ("lower is better" in as_text(board)) is (headline not in {"char_precision", "char_f"})


def test_a_changed_bound_is_found(tmp_path: Path) -> None:
    board = ranked(tmp_path, "patient_leak", leaking(12, [1], "one"), leaking(12, [], "none"))
    said = board.model_dump_json()
    bound = f'"bound":{exact_upper(0, 12)}'
    assert bound in said
    (tmp_path / "board.json").write_text(said.replace(bound, '"bound":0.01'), encoding="utf-8")
    with pytest.raises(Exception, match="bound"):
        verify(tmp_path / "board.json")


def test_a_measure_of_ours_of_which_less_is_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its card says so: it was ranked as if more were better, its counts being tp, fp and fn."""
    row = MEASURES.find("iou")
    monkeypatch.setattr(row, "direction", "lower")
    assert issubclass(row, DocumentMeasure)
    notes = {name: [MaskedNote(f"n{p}", f"p{p}", of_length(9), [(2, 8, "NAME", None)], masks) for p in range(6)]
             for name, masks in (("hit", [(2, 8)]), ("miss", [(0, 1)]))}  # fmt: skip
    cards = [card_of(given, "iou").model_copy(update={"submission": name}) for name, given in notes.items()]
    assert [card.measures["iou"].direction for card in cards] == ["lower", "lower"]
    assert [row.submission for row in ranked(tmp_path, "iou", *cards).rows] == ["miss", "hit"]


def test_patients_drawn_again_are_those_of_the_enumeration() -> None:
    """A leaks 8 of 26 characters, B none of 5: AA is 16/52, AB and BA 8/31, BB 0/10; a quarter, half, a quarter."""
    notes = (
        MaskedNote("n1", "A", of_length(40), [(0, 9, "NAME", "e1"), (20, 30, "DATE", "e2")], [(0, 4), (20, 30)]),
        MaskedNote("n2", "A", of_length(30), [(5, 9, "NAME", "e1"), (7, 12, "ID", "e3")], [(5, 9)]),
        MaskedNote("n3", "B", of_length(20), [(0, 5, "DATE", "e4")], [(0, 8)]),
    )
    card = card_of(notes, "char_leak").model_copy(update={"submission": "s"})
    table = tabulate([card_entry(dumped(card), "s.json")])
    drawn = 4000
    (replicates,) = f1_replicates(table, [table.measures.index("char_leak")], 7, drawn)[0]
    expected = {16 / 52: 1 / 4, 8 / 31: 1 / 2, 0.0: 1 / 4}
    seen = {share: float(np.isclose(1 - replicates, share).mean()) for share in expected}
    assert sum(seen.values()) == 1
    for share, chance in expected.items():
        assert seen[share] == pytest.approx(chance, abs=4 * (chance * (1 - chance) / drawn) ** 0.5)


@pytest.mark.parametrize("headline", ["char_leak", "patient_leak"])
def test_the_ladder_learns_of_a_real_improvement_only(headline: str) -> None:
    """Of 60 patients 30 leak, then 12, then 11: one patient is no more than the standard error of the difference."""
    cards = [
        leaking(60, range(leaks), f"s{leaks}").model_copy(update={"team": "t", "created": f"2026-01-0{day}"})
        for day, leaks in enumerate((30, 12, 11), 1)
    ]
    entries = [card_entry(dumped(card), f"{card.submission}.json") for card in cards]
    rules = BoardRules(headline=headline, resamples=100, randomisations=199)
    shown = as_public(rank(entries, rules), tabulate(entries), rules.model_copy(update={"feedback": "ladder"}))
    assert [(row.submission, row.measures[headline].ranked) for row in shown.rows] == [("s12", 12 / 60)]
