"""The scoring flow by another scorer's rules: its own files as they are, else ours as it would read them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandscore.annotations.input_files import UNWATCHED, Inputs, Loaded, ReadingWatch, load_files
from sandscore.base.byte_sources import opened
from sandscore.base.errors import OrganiserFault
from sandscore.original_scores.profile_cards import (
    as_the_original_reads,
    original_files,
    score_as,
    score_columns_as,
    score_written_as,
)
from sandscore.profiles.profile_registry import Profile
from sandscore.scoring.card_building import Question
from sandscore.scoring.scoring_flow import Scored, refuse_faulty


def score_files_as(
    profile: Profile,
    question: Question,
    inputs: Inputs,
    *,
    complete: bool = False,
    strict: bool = False,
    jobs: int = 1,
    watch: ReadingWatch = UNWATCHED,
) -> Scored:
    """Loads the files and scores; goes on with predictions and gold that we would refuse, unless this is ``strict``."""
    with _readable_twice(inputs) as readable:
        if (scored := _score_original_files(profile, question, readable)) is not None:
            return scored
        with watch.reading(readable.given.values()) as progress:
            loaded = load_files(question.task, readable, complete=complete, jobs=jobs, progress=progress)
        watch.problems(loaded.findings.values())
        if strict:
            refuse_faulty(loaded)
        return _score_as_the_original(profile, question, readable, loaded)


def _score_as_the_original(profile: Profile, question: Question, inputs: Inputs, loaded: Loaded) -> Scored:
    """The original goes on where we would stop; without the notes nobody knows what there is to score."""
    if loaded.faulty("notes"):
        raise OrganiserFault("the notes are not valid; nothing was scored")
    if not profile.file_names and (found := score_columns_as(profile, question, loaded)) is not None:
        return Scored(found[0], loaded, table=found[1].table.rstrip("\n"))
    given = as_the_original_reads(profile, question.task, inputs, loaded)
    card, result = score_as(profile, question, given, loaded)
    return Scored(card, loaded, given, result.table.rstrip("\n"))


def _score_original_files(profile: Profile, question: Question, inputs: Inputs) -> Scored | None:
    """Files in the original's own form, which our loader does not know; None where they are ours."""
    if (scored := score_written_as(profile, question, inputs)) is not None:
        return Scored(scored[0], scored[2], table=scored[1].table.rstrip("\n"))
    found = original_files(profile, question.task, inputs)
    if found is None:
        return None
    card, result = score_as(profile, question, *found)
    return Scored(card, found[1], found[0], result.table.rstrip("\n"))


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
