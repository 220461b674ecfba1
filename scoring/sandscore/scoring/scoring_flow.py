"""The scoring flow: files are loaded, refused where they are not valid, scored, and made a card.

The command line, the library and the queue all score through here, by our own rules or by those of another scorer.
Nothing is printed: who wants to be told of problems while the flow goes on says so with ``ReadingWatch``.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.annotations.input_files import UNWATCHED, Inputs, Loaded, ReadingWatch, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.byte_sources import InputFile, opened
from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.records.problem import Problem
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import Question, score

if TYPE_CHECKING:
    from sandscore.annotations.gold_reference import ReadPredictions, Reference
    from sandscore.profiles.profile import ProfileInput
    from sandscore.profiles.profile_registry import Profile
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
    question: Question,
    profile: "Profile | None",
    inputs: Inputs,
    *,
    complete: bool = False,
    strict: bool = False,
    jobs: int = 1,
    watch: ReadingWatch = UNWATCHED,
) -> Scored:
    """Loads the files, refuses what is not valid, and scores.

    Another scorer's profile goes on with predictions and gold that we would refuse, unless this is ``strict``.
    """
    with _readable_twice(inputs) if profile is not None else nullcontext(inputs) as readable:
        if profile is not None and (scored := _score_original_files(profile, question, readable)) is not None:
            return scored
        with watch.reading(readable.given.values()) as progress:
            loaded = load_files(question.task, readable, complete=complete, jobs=jobs, progress=progress)
        watch.problems(loaded.findings.values())
        if profile is None:
            return score_loaded(question, loaded, jobs, readable.notes)
        if strict:
            _refuse_faulty(loaded)
        return _score_as_the_original(profile, question, readable, loaded)


def score_beside(question: Question, reference: "Reference", predictions: "ReadPredictions") -> Scored:
    """The same for predictions that another process has read, beside gold and notes that were read before."""
    for role in ("gold", "notes"):
        if reference.loaded.faulty(role):
            raise OrganiserFault(f"{role} not valid; sandscore validate says where")
    return score_loaded(question, reference.beside(predictions), notes=reference.notes)


def score_loaded(question: Question, loaded: Loaded, jobs: int = 1, notes: InputFile | None = None) -> Scored:
    """The same for files that were loaded: by our own rules. ``notes`` says what slices of them are told from."""
    _refuse_faulty(loaded)
    return Scored(score(question, loaded, jobs), loaded, question=question, notes=notes)


def _score_as_the_original(profile: "Profile", question: Question, inputs: Inputs, loaded: Loaded) -> Scored:
    """The original goes on where we would stop; without the notes nobody knows what there is to score."""
    from sandscore.scoring.profile_cards import as_the_original_reads, score_as, score_columns_as

    if loaded.faulty("notes"):
        raise OrganiserFault("the notes are not valid; nothing was scored")
    if not profile.file_names and (found := score_columns_as(profile, question, loaded)) is not None:
        return Scored(found[0], loaded, table=found[1].table.rstrip("\n"))
    given = as_the_original_reads(profile, question.task, inputs, loaded)
    card, result = score_as(profile, question, given, loaded)
    return Scored(card, loaded, given, result.table.rstrip("\n"))


def _score_original_files(profile: "Profile", question: Question, inputs: Inputs) -> Scored | None:
    """Files in the original's own form, which our loader does not know; None where they are ours."""
    from sandscore.scoring.profile_cards import original_files, score_as, score_written_as

    if (scored := score_written_as(profile, question, inputs)) is not None:
        return Scored(scored[0], scored[2], table=scored[1].table.rstrip("\n"))
    found = original_files(profile, question.task, inputs)
    if found is None:
        return None
    card, result = score_as(profile, question, *found)
    return Scored(card, found[1], found[0], result.table.rstrip("\n"))


def _refuse_faulty(loaded: Loaded) -> None:
    """Faults of the organiser come before those of the participant."""
    if loaded.faulty("gold", "notes"):
        raise OrganiserFault("gold or notes are not valid; nothing was scored")
    if loaded.faulty("predictions"):
        raise InvalidPredictions("the predictions are not valid; nothing was scored", loaded.findings["predictions"])


@contextmanager
def _readable_twice(inputs: Inputs) -> Iterator[Inputs]:
    """The inputs, with what comes through a pipe kept in a file of its own until the end."""
    role = next((role for role, path in inputs.given.items() if str(path) == "-"), None)
    if role is None:
        yield inputs
        return
    import tempfile

    from sandscore.base.whole_files import write_file

    with tempfile.TemporaryDirectory(prefix="sandscore-") as folder:
        file = Path(folder) / "standard-input"
        with opened("-") as source, memoryview(source.data) as content:
            write_file(file, content)
        yield Inputs(**{**inputs.given, role: file})
