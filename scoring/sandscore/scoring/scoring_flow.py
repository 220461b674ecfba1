"""The scoring flow: files are loaded, refused where they are not valid, scored, and made a card.

The command line, the library and the queue all score through here, by our own rules or by those of another scorer.
Nothing is printed: who wants to be told of problems while the flow goes on says so with ``ReadingWatch``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.annotations.input_files import UNWATCHED, Inputs, Loaded, ReadingWatch, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.byte_sources import InputFile
from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.records.problem import Problem
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import Question, reads_texts, score

if TYPE_CHECKING:
    from sandscore.profiles.profile import ProfileInput
    from sandscore.records.totals_card import TotalsCard


class InvalidPredictions(ParticipantFault):
    """Predictions that are not valid, with every problem that was found in them; nothing was scored.

    >>> try:
    ...     ss.score("date", gold=gold, predictions=b"[{}]", notes=notes)
    ... except ss.InvalidPredictions as fault:
    ...     print(fault.exit_code, fault.problems[0].code)
    65 schema
    """

    def __init__(self, sentence: str, found: ProblemCollector) -> None:
        super().__init__(sentence)
        self.found = found
        self.problems: Sequence[Problem] = found.problems


class Scored(Struct, frozen=True):
    """A card and the files it was made of; for another scorer's rules what that prints, and what it was given beyond
    the columns.

    ``totals`` is what of the card may be published, where that is no whole card. ``question`` and ``notes`` are what
    was scored by our own rules, for whoever counts slices of it.
    """

    card: Scorecard
    loaded: Loaded
    given: "ProfileInput | None" = None
    table: str | None = None
    totals: "TotalsCard | None" = None
    question: Question | None = None
    notes: InputFile | None = None


def score_files(
    question: Question, inputs: Inputs, *, complete: bool = False, jobs: int = 1, watch: ReadingWatch = UNWATCHED
) -> Scored:
    """Loads the files, refuses what is not valid, and scores by our own rules."""
    texts = reads_texts(question)
    with watch.reading(inputs.given.values()) as progress:
        loaded = load_files(question.task, inputs, complete=complete, jobs=jobs, progress=progress, want_texts=texts)
    watch.problems(loaded.findings.values())
    return score_loaded(question, loaded, jobs, inputs.notes)


def score_loaded(question: Question, loaded: Loaded, jobs: int = 1, notes: InputFile | None = None) -> Scored:
    """The same for files that were loaded. ``notes`` says what slices of them are told from."""
    refuse_faulty(loaded)
    return Scored(score(question, loaded, jobs), loaded, question=question, notes=notes)


def refuse_faulty(loaded: Loaded) -> None:
    """Faults of the organiser come before those of the participant."""
    if loaded.faulty("gold", "notes"):
        raise OrganiserFault("gold or notes are not valid; nothing was scored")
    if loaded.faulty("predictions"):
        raise InvalidPredictions("the predictions are not valid; nothing was scored", loaded.findings["predictions"])
