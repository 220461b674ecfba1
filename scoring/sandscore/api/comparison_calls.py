"""Telling two systems apart as a call: two cards on the same notes, and how many patients a challenge needs for it."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from msgspec import Struct

from sandscore import api
from sandscore.annotations.input_files import UNWATCHED, ReadingWatch
from sandscore.api.comparison_results import Comparison, LabelDifference
from sandscore.api.results import HEADLINE, Result
from sandscore.base.byte_sources import opened
from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.formats.foreign_input import Labels, task_in
from sandscore.ranking.card_reading import read_card
from sandscore.ranking.resampling import seed_of
from sandscore.records.counts import Counts
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.scoring_flow import Scored
from sandscore.separation.card_comparison import card_difference, note_differences
from sandscore.separation.power_planning import Answer, PowerPlan, patients_needed, sizes_of_patients
from sandscore.task_table.task import Task, find_task

Comparable = Result | Scorecard | str | Path
Steps = AbstractContextManager[Callable[[int], object]]
_CARD_KEYS = (b'"signature"', b'"sandscore"')


class ComparisonInputs(Struct, frozen=True, kw_only=True):
    """What predictions are compared over: gold and notes, and how the predictions are read.

    ``task`` None: the one whose annotations gold holds. ``html``: a page of both sides' annotations, note by note;
    ``challenge`` says whether it may show texts.
    """

    gold: str | Path | None = None
    notes: str | Path | None = None
    task: str | Task | None = None
    source: str | None = None
    labels: Labels = None
    annotator: str | None = None
    html: str | Path | None = None
    challenge: str | Path | None = None


CARDS_ALONE = ComparisonInputs()


def compare(
    a: Comparable,
    b: Comparable,
    measure: str | None = None,
    *,
    gold: str | Path | None = None,
    notes: str | Path | None = None,
    task: str | Task | None = None,
    source: str | None = None,
) -> Comparison:
    """How far ``b``, the new one, is ahead of ``a`` on the same notes: results, cards, paths of cards, or predictions.

    ``measure`` is ``instance_strict`` unless it is named. Cards that no board would put together are refused: another
    task, profile, version or gold, other notes or patients. Paths of predictions are scored first, against ``gold``;
    ``task`` is the one that gold holds, ``source`` the format of predictions where their content leaves a doubt.

    >>> comparison = ss.compare("leaderboard/cards/date-weak.json", "leaderboard/cards/date-good.json", "token")
    >>> comparison.difference > 0, comparison.patients
    (True, 18)
    """
    return compare_files(a, b, measure, ComparisonInputs(gold=gold, notes=notes, task=task, source=source))


def compare_files(
    a: Comparable,
    b: Comparable,
    measure: str | None = None,
    inputs: ComparisonInputs = CARDS_ALONE,
    watch: ReadingWatch = UNWATCHED,
) -> Comparison:
    """The same, for whoever watches files being read."""
    measure = measure or HEADLINE
    scored = [_scored(one, measure, inputs, watch) for one in (a, b)]
    sides = (("a", "the first card"), ("b", "the second card"))
    held = [
        (done.card, one_line(given) if isinstance(given, str | os.PathLike) else name)
        if done is not None
        else _card_of(given, name)
        for done, given, (_, name) in zip(scored, (a, b), sides, strict=True)
    ]
    cards = (held[0][0], held[1][0])
    differs = card_difference(cards, (held[0][1], held[1][1]), measure)
    found = Comparison(measure, cards, differs, note_differences(cards, measure), label_differences(cards, measure))
    if inputs.html is not None:
        _write_page(found, scored, inputs)
    return found


def _scored(given: object, measure: str, inputs: ComparisonInputs, watch: ReadingWatch) -> Scored | None:
    """Predictions, scored; None of what is a card already."""
    if not isinstance(given, str | os.PathLike) or _is_card(str(given)):
        return None
    with opened(Path(given)):  # is there, and may be read
        pass
    if inputs.gold is None:
        raise UsageFault(
            f"{one_line(given)}: is no score card; predictions are compared with --gold FILE (and --notes)"
        )
    from sandscore.api.scoring_calls import ScoreFiles, ScoringPlan, score_to_files

    task = find_task(inputs.task) if inputs.task is not None else task_in(str(inputs.gold))
    own = task.measures
    plan = ScoringPlan(
        task=task,
        gold=str(inputs.gold),
        predictions=str(given),
        notes=None if inputs.notes is None else str(inputs.notes),
        measures=() if measure in own else (measure,),
        source=inputs.source,
        labels=inputs.labels,
        annotator=inputs.annotator,
        submission=one_line(given),
    )
    return score_to_files(plan, ScoreFiles(), watch)


def _is_card(path: str) -> bool:
    """Whether a file begins as a score card does; what cannot be opened is not one."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            beginning = file.read(4096)
    except (OSError, ValueError):
        return False
    return all(key in beginning for key in _CARD_KEYS)


def _write_page(found: Comparison, scored: Sequence[Scored | None], inputs: ComparisonInputs) -> None:
    """Both sides' annotations beside gold's, where both are predictions; texts where the licence allows them."""
    from sandscore.documents.note_documents import documents_of
    from sandscore.site.annotation_diff import write_diff

    first, second = scored
    if first is None or second is None:
        raise UsageFault("--html shows annotations, which score cards do not hold: compare predictions with --gold")
    allowed = inputs.challenge is not None and api.read_challenge(Path(inputs.challenge)).publication.text
    better = {note.note: note.better for note in found.notes}
    documents = documents_of(first.loaded), documents_of(second.loaded)
    write_diff(Path(str(inputs.html)), found, better, documents, allow_text=allowed)


def label_differences(cards: tuple[Scorecard, Scorecard], measure: str) -> list[LabelDifference]:
    """The labels whose counts differ: by the measure where labels are counted by it, else by the first they have."""
    first, second = (card.per_label for card in cards)
    counted = dict.fromkeys(name for side in (first, second) for row in side.values() for name in row)
    if not counted:
        return []
    by = measure if measure in counted else next(iter(counted))
    found = []
    for label in sorted({*first, *second}):
        a, b = _counts(first.get(label, {}), by), _counts(second.get(label, {}), by)
        if a != b:
            found.append(LabelDifference(label, a, b))
    return found


def _counts(row: Mapping[str, Any], measure: str) -> Counts:
    held = row.get(measure)
    numbers = [held.get(name) for name in ("tp", "fp", "fn")] if isinstance(held, Mapping) else []
    return Counts(*(number if isinstance(number, int) else 0 for number in numbers))


def _card_of(given: object, name: str) -> tuple[Scorecard, str]:
    """The card, and what sentences call it."""
    if isinstance(given, Result):
        return given.card, name
    if isinstance(given, Scorecard):
        return given, name
    if isinstance(given, str | os.PathLike):
        return read_card(Path(given)).card, one_line(given)
    raise UsageFault(
        f"found a value of type {type(given).__name__} as {name}; expected a Result, a Scorecard or the path of a card"
    )


def _unfollowed() -> Steps:
    return nullcontext(lambda _: None)


class PowerAnswer(Struct, frozen=True):
    """How many patients are needed, what was assumed, and how many units gold has."""

    plan: PowerPlan
    answer: Answer
    units: int


def patients_for(
    task: str | Task,
    plan: PowerPlan,
    gold: Path,
    notes: Path | None = None,
    simulating: Callable[[], Steps] = _unfollowed,
) -> PowerAnswer:
    """How many patients, drawn from gold, separate two systems."""
    known = find_task(task)
    sizes = sizes_of_patients(known, gold, notes)
    seed = seed_of("power", known.id, sizes.gold, "")
    with simulating() as advance:
        answer = patients_needed(sizes.annotations, plan, seed, advance, sizes.characters)
    return PowerAnswer(plan, answer, len(sizes.annotations))
