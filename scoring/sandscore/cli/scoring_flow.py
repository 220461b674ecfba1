"""From files to a card, by our own rules or by those of another scorer."""

from contextlib import nullcontext
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.cli.error_files_option import ErrorFiles
from sandscore.cli.problem_text import complain
from sandscore.cli.progress import bytes_read
from sandscore.cli.stdin_copy import kept
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import Question, score

if TYPE_CHECKING:
    from sandscore.profiles.profile_registry import Profile


class Scored(Struct, frozen=True):
    """A card, and what the original would print."""

    card: Scorecard
    loaded: Loaded
    table: str = ""


def scored_by(
    question: Question,
    profile: "Profile | None",
    inputs: Inputs,
    errors: ErrorFiles | None,
    *,
    complete: bool = False,
    jobs: int = 1,
) -> Scored:
    """Loads the files, refuses what is not valid, scores, and writes error files if they are wanted."""
    with kept(inputs) if profile is not None else nullcontext(inputs) as readable:
        with bytes_read(readable.given.values()) as progress:
            loaded = load_files(question.task, readable, complete=complete, jobs=jobs, progress=progress)
        if profile is None:
            return _challenge(question, loaded, errors, jobs)
        return _as_the_original(profile, question, readable, loaded, errors)


def _challenge(question: Question, loaded: Loaded, errors: ErrorFiles | None, jobs: int) -> Scored:
    _refuse_faulty(loaded)
    if errors is not None:
        errors.write(loaded, None)
    return Scored(score(question, loaded, jobs), loaded)


def _as_the_original(
    profile: "Profile", question: Question, inputs: Inputs, loaded: Loaded, errors: ErrorFiles | None
) -> Scored:
    """The original goes on where we would stop, so what we found is only said; what it prints is printed."""
    from sandscore.scoring.profile_cards import as_the_original_reads, score_as

    complain(loaded.findings.values())
    if loaded.faulty("notes"):
        raise OrganiserFault("the notes are not valid; nothing was scored")
    given = as_the_original_reads(question.task, inputs, loaded)
    card, result = score_as(profile, question, given, loaded)
    if errors is not None:
        errors.write(loaded, given)
    return Scored(card, loaded, result.table.rstrip("\n"))


def _refuse_faulty(loaded: Loaded) -> None:
    """Faults of the organiser come before those of the participant."""
    complain(loaded.findings.values())
    if loaded.faulty("gold", "notes"):
        raise OrganiserFault("gold or notes are not valid; nothing was scored")
    if loaded.faulty("predictions"):
        raise ParticipantFault("the predictions are not valid; nothing was scored")
