"""The measure suite: what every measure promises, whoever wrote it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sandscore.conformance.drawn_corpora import DrawnCorpus
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.measures.measure_registry import MEASURES
from sandscore.measures.measure_syntax import Named, parse
from sandscore.records.scorecard import FormulaScore, Scorecard
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import TASKS, Task

SEEDS = range(5)
Change = Callable[[DrawnCorpus], None]


def task_of(measure: str) -> Task:
    """A task that has the measure; a general one is tried on one with labels."""
    return next((task for task in TASKS.values() if measure in task.measures), TASKS["phi"])


@pytest.fixture
def scored(tmp_path: Path) -> Callable[..., Scorecard]:
    """The card of a drawn corpus, changed or not."""

    def made(measure: str, seed: int, change: Change = lambda _: None) -> Scorecard:
        corpus = DrawnCorpus(task_of(measure), seed)
        change(corpus)
        hipaa = load_hipaa_map() if corpus.task.hipaa else None
        return score(Question(corpus.task, (measure,), hipaa), corpus.loaded(tmp_path))

    return made


def numbers(card: Scorecard, measure: str) -> dict[str, object]:
    """All that the card says of the measure, but for means over notes."""
    return card.measures[measure].model_dump(exclude={"macro"})


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
    score, rows = card.measures[measure], [note[measure] for note in card.per_note.values() if measure in note]
    wanted = [*score.components.values()] if isinstance(score, FormulaScore) else [score.tp, score.fp, score.fn]
    if None in wanted:
        assert not rows, "a measure without integer components has nothing to say of single notes"
        return
    assert len(rows) == card.notes
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
    def perfect(corpus: DrawnCorpus) -> None:
        corpus.predictions = {name: list(rows) for name, rows in corpus.gold.items()}

    best, drawn = (scored(measure, seed, *change).measures[measure].ranked for change in ((perfect,), ()))
    sign = -1 if MEASURES.find(measure).direction == "lower" else 1
    assert best is not None
    assert drawn is None or sign * drawn <= sign * best + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_dropping_a_prediction_never_raises_recall(measure: str, seed: int, scored: Callable[..., Scorecard]) -> None:
    def fewer(corpus: DrawnCorpus) -> None:
        for rows in corpus.predictions.values():
            rows.pop(0)

    before, after = scored(measure, seed).measures[measure], scored(measure, seed, fewer).measures[measure]
    assert (after.recall or 0.0) <= (before.recall or 0.0) + 1e-12
