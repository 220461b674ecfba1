"""The measure suite: what every measure promises, whoever wrote it."""

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, get_args

import pytest

from sandscore.base.errors import SandscoreError
from sandscore.conformance.drawn_corpora import DrawnCorpus
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.measures.measure_registry import MEASURES
from sandscore.measures.measure_syntax import Named, parse
from sandscore.ranking.board_building import rank
from sandscore.ranking.card_reading import is_ranked, read_card
from sandscore.records.board import Board
from sandscore.records.formula import COUNTS, F1, Direction
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import ComponentScore, FormulaScore, Scorecard
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import TASKS, Task
from sandscore.verification.board_verification import verify

SEEDS = range(3)
NOTES = 10
Change = Callable[[DrawnCorpus], None]


def _perfect(corpus: DrawnCorpus) -> None:
    corpus.predictions = {name: list(rows) for name, rows in corpus.gold.items()}


def _as_drawn(_: DrawnCorpus) -> None:
    """Nothing is changed."""


def _fewer(corpus: DrawnCorpus) -> None:
    for rows in corpus.predictions.values():
        rows.pop(0)


def _silent(corpus: DrawnCorpus) -> None:
    for rows in corpus.predictions.values():
        rows.clear()


SUBMISSIONS: dict[str, Change] = {
    "perfect": _perfect, "drawn": _as_drawn, "fewer": _fewer, "silent": _silent,
}  # fmt: skip


def task_of(measure: str) -> Task:
    """A task that has the measure; a general one is tried on one with labels."""
    return next((task for task in TASKS.values() if measure in task.measures), TASKS["phi"])


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Scorecard]:
    """The card of a drawn corpus, changed or not; one that several tests look at is made once."""
    folders = map(tmp_path_factory.mktemp("scored").joinpath, map(str, count()))
    kept: dict[tuple[str, int, Change], Scorecard] = {}

    def made(measure: str, seed: int, change: Change) -> Scorecard:
        (folder := next(folders)).mkdir()
        corpus = DrawnCorpus(task_of(measure), seed, NOTES)
        if any(parameter.name == "by" for parameter in MEASURES.find(measure).parameters):
            corpus.name_entities()
        change(corpus)
        hipaa = load_hipaa_map() if corpus.task.hipaa else None
        card = score(Question(corpus.task, (with_files(measure, folder),), hipaa), corpus.loaded(folder))
        return under_its_name(card, measure)

    def seen(measure: str, seed: int, change: Change = _as_drawn) -> Scorecard:
        if change not in SUBMISSIONS.values():
            return made(measure, seed, change)
        if (measure, seed, change) not in kept:
            kept[measure, seed, change] = made(measure, seed, change)
        return kept[measure, seed, change]

    return seen


def with_files(measure: str, folder: Path) -> str:
    """The measure with the files without which it measures nothing."""
    files = [parameter for parameter in MEASURES.find(measure).parameters if parameter.sample]
    for parameter in files:
        (folder / parameter.name).write_text(parameter.sample, encoding="utf-8")
    given = ",".join(f"{parameter.name}={folder / parameter.name}" for parameter in files)
    return f"{measure}({given})" if given else measure


def under_its_name(card: Scorecard, measure: str) -> Scorecard:
    """The card on which the measure is called as here, without the hashes of its files."""
    full = next(name for name in card.measures if name == measure or name.startswith(f"{measure}("))

    def plainly(rows: Mapping[str, Any]) -> dict[str, Any]:
        return {measure if name == full else name: row for name, row in rows.items()}

    return card.model_copy(
        update={
            "measures": plainly(card.measures),
            "per_note": {note: plainly(rows) for note, rows in card.per_note.items()},
            "per_unit": {unit: plainly(rows) for unit, rows in card.per_unit.items()},
        }
    )


def rows_of(card: Scorecard, measure: str) -> dict[str, tuple[int, ...]]:
    """By note or by patient, as the measure adds up."""
    tables = (card.per_note, card.per_unit)
    return {name: rows[measure] for table in tables for name, rows in table.items() if measure in rows}


def numbers(card: Scorecard, measure: str) -> dict[str, object]:
    """All that the card says of the measure, but for means over notes."""
    return card.measures[measure].model_dump(exclude={"macro", "means"})


def test_it_describes_itself(measure: str) -> None:
    row = MEASURES.find(measure)
    assert row.fault() is None
    assert row.description.strip()
    assert len(row.description.splitlines()) == 1


def test_it_is_written_as_it_is_read(measure: str) -> None:
    row = MEASURES.find(measure)
    values = [Named(measure)]
    for p in row.parameters:
        values += [Named(measure, ((p.name, choice),)) for choice in p.choices if choice != p.default]
        values += [Named(measure, ((p.name, most),)) for most in (p.most,) if most is not None and most != p.default]
    for value in values:
        assert str(parse(str(value), MEASURES.find)) == str(value)


@pytest.mark.parametrize("seed", SEEDS)
def test_its_components_are_whole_numbers_that_add_up(
    measure: str, seed: int, scored: Callable[..., Scorecard]
) -> None:
    card = scored(measure, seed)
    score, rows = card.measures[measure], [*rows_of(card, measure).values()]
    wanted = [*score.numbers.values()] if isinstance(score, ComponentScore) else [score.tp, score.fp, score.fn]
    if None in wanted:
        assert not rows, "a measure without integer components has nothing to say of single notes"
        return
    assert len(rows) in {card.notes, len(set(card.units.values()))}
    assert all(type(number) is int and number >= 0 for row in rows for number in row)
    assert [sum(column) for column in zip(*rows, strict=True)] == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_a_file_changes_nothing(measure: str, seed: int, scored: Callable[..., Scorecard]) -> None:
    def turned(corpus: DrawnCorpus) -> None:
        for side in (corpus.gold, corpus.predictions):
            for name, rows in reversed(list(side.items())):
                side[name] = side.pop(name)[::-1] if rows else rows

    assert numbers(scored(measure, seed, turned), measure) == numbers(scored(measure, seed), measure)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_note_counts_the_same_alone(measure: str, seed: int, scored: Callable[..., Scorecard]) -> None:
    whole = scored(measure, seed)
    for note, rows in whole.per_note.items():

        def alone(corpus: DrawnCorpus, kept: str = note) -> None:
            corpus.notes = [one for one in corpus.notes if one["identifier"] == kept]
            corpus.gold, corpus.predictions = {kept: corpus.gold[kept]}, {kept: corpus.predictions[kept]}

        assert scored(measure, seed, alone).per_note[note].get(measure) == rows.get(measure)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_better_than_gold(measure: str, seed: int, scored: Callable[..., Scorecard]) -> None:
    best, drawn = (scored(measure, seed, SUBMISSIONS[name]).measures[measure].ranked for name in ("perfect", "drawn"))
    sign = -1 if MEASURES.find(measure).direction == "lower" else 1
    assert best is not None or drawn is None, "undefined for what is right, told of what is not"
    assert best is None or drawn is None or sign * drawn <= sign * best + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_dropping_a_prediction_never_raises_recall(measure: str, seed: int, scored: Callable[..., Scorecard]) -> None:
    before, after = (scored(measure, seed, SUBMISSIONS[name]).measures[measure] for name in ("drawn", "fewer"))
    assert (after.recall or 0.0) <= (before.recall or 0.0) + 1e-12


def as_of_a_package(card: Scorecard, measure: str, direction: Direction) -> Scorecard:
    """The card of the same measure in an installed package, which may be of the other direction."""
    score = card.measures[measure]
    counts = score.numbers if isinstance(score, ComponentScore) else {n: getattr(score.counts, n) for n in COUNTS}
    twin = FormulaScore(
        score=score.ranked,
        components=counts,
        formula=score.formula or F1,
        direction=direction,
        plugin="conformance 1",
        reason=score.reason,
    )
    return card.model_copy(update={"measures": {measure: twin}})


def ranked(cards: Mapping[str, Scorecard], measure: str, folder: Path) -> Board:
    """The board of these cards, all of it read from files and written to one."""
    folder.mkdir(exist_ok=True)
    for name, card in cards.items():
        (folder / f"{name}.json").write_text(card.model_dump_json(), encoding="utf-8")
    entries = [read_card(folder / f"{name}.json") for name in cards]
    board = rank(entries, BoardRules(headline=measure, resamples=100, randomisations=99))
    (folder / "board.json").write_text(board.model_dump_json(), encoding="utf-8")
    return board


def places(scores: Mapping[str, float | None], direction: str) -> dict[str, int]:
    """One more than there are better ones; what is undefined comes after all others in either direction."""
    sign = -1 if direction == "lower" else 1
    keys = {name: (score is not None, sign * (score or 0)) for name, score in scores.items()}
    return {name: 1 + sum(other > key for other in keys.values()) for name, key in keys.items()}


@pytest.mark.parametrize(("seed", "direction"), [*enumerate(get_args(Direction))])
def test_boards_are_ranked_and_verified_in_its_direction(
    measure: str, seed: int, direction: Direction, scored: Callable[..., Scorecard], tmp_path: Path
) -> None:
    """In its own, and as the measure of a package in either."""
    cards = {name: scored(measure, seed, change) for name, change in SUBMISSIONS.items()}
    if not all(is_ranked(card.measures[measure]) for card in cards.values()):
        with pytest.raises(SandscoreError):
            ranked(cards, measure, tmp_path / "shown")
        return
    own: Direction = MEASURES.find(measure).direction
    scores = {name: card.measures[measure].ranked for name, card in cards.items()}
    assert {card.measures[measure].direction or "higher" for card in cards.values()} == {own}
    made = ranked(cards, measure, tmp_path / "own")
    assert {row.submission: row.rank for row in made.rows} == places(scores, own)
    assert verify(tmp_path / "own" / "board.json").level == "recomputed"
    twins = {name: as_of_a_package(card, measure, direction) for name, card in cards.items()}
    made = ranked(twins, measure, tmp_path / "twin")
    assert {row.submission: row.rank for row in made.rows} == places(scores, direction)
    assert {row.submission: row.measures[measure].ranked for row in made.rows} == pytest.approx(scores)
    board = tmp_path / "twin" / "board.json"
    assert verify(board).level == "recomputed"
    said = board.read_text(encoding="utf-8")
    other = "higher" if direction == "lower" else "lower"
    turned = said.replace(f'"direction":"{direction}"', f'"direction":"{other}"')
    assert turned != said
    board.write_text(turned, encoding="utf-8")
    with pytest.raises(SandscoreError, match="direction"):
        verify(board)
