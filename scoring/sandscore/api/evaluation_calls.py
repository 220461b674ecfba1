"""Evaluating as a call: an annotator run over notes and over perturbed copies of them, and scored on all."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sandscore import api
from sandscore.annotations.input_files import ReadingWatch
from sandscore.api.running_calls import Following, RunFiles, RunPlan, run_to_folder, unfollowed
from sandscore.api.scoring_calls import ScoreFiles, ScoringPlan, score_to_files
from sandscore.base.errors import UsageFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.scoring.scoring_flow import InvalidPredictions, Scored
from sandscore.task_table.task import find_task

if TYPE_CHECKING:
    from sandscore.slices.robustness import CopyResult, NotesCopy

COPIES = "perturbed"
"""The folder, beside the results, of what came of the copies."""


def notes_copies(
    plan: RunPlan, gold: str | Path, folders: Sequence[str | Path], challenge: str | Path | None = None
) -> "tuple[NotesCopy, ...]":
    """The copies in these folders and in those that the challenge names, checked before anything is run."""
    named = [Path(folder) for folder in folders]
    if challenge is not None:
        place = Path(challenge)
        named += [place.parent / folder for folder in api.read_challenge(place).robustness.copies]
    if not named:
        return ()
    with REMOVABLE:
        from sandscore.slices.robustness import read_copy

    task = find_task(plan.task).id
    found = [read_copy(folder, task, Path(plan.notes), Path(gold)) for folder in named]
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageFault(f"two perturbed copies are called '{twice}', and cards could not tell them apart")
    return tuple(found)


def evaluate_to_files(
    plan: RunPlan,
    done: RunFiles,
    request: ScoringPlan,
    files: ScoreFiles,
    watch: ReadingWatch,
    copies: "Sequence[NotesCopy]" = (),
    following: Following = unfollowed,
) -> Scored:
    """The score of a run that is over, with what the same annotator scores on each copy; the card is written last."""
    if copies and request.profile != "challenge":
        raise UsageFault("--perturb goes with our own profile: another scorer tells nothing of copies")
    if not copies:
        return score_to_files(request, files, watch)
    with REMOVABLE:
        from sandscore.slices.robustness import with_robustness

    results = list(_results(plan, done, request, watch, copies, following))
    return score_to_files(request, files, watch, lambda card: with_robustness(card, results))


def _results(
    plan: RunPlan,
    done: RunFiles,
    request: ScoringPlan,
    watch: ReadingWatch,
    copies: "Sequence[NotesCopy]",
    following: Following,
) -> "Iterator[CopyResult]":
    """A run that fails on a copy leaves the score as it is, and says so in its row."""
    from sandscore.slices.robustness import CopyResult

    for copy in copies:
        folder = done.folder / COPIES / copy.name
        ran = run_to_folder(replace(plan, notes=copy.notes, resume=False), folder, following)
        if ran.exit_code:
            watch.warning(f"on the perturbed copy {copy.name} the run ended {ran.record.outcome}: its row has no score")
            yield CopyResult(copy, None, str(ran.record.outcome))
            continue
        asked = replace(
            request,
            gold=str(copy.gold(find_task(plan.task).id)),
            predictions=str(ran.predictions),
            notes=str(copy.notes),
            run=str(ran.record_file),
            slices=(),
        )
        try:
            scored = score_to_files(asked, ScoreFiles(card=str(folder / "card.json")))
        except InvalidPredictions:
            watch.warning(f"on the perturbed copy {copy.name} the predictions are not valid: its row has no score")
            yield CopyResult(copy, None, "invalid")
            continue
        yield CopyResult(copy, scored.card)
