"""Predictions against several annotators' gold: one card over all of them, and how well they agree themselves."""

from collections.abc import Sequence

from msgspec.structs import replace

from sandscore.annotations.input_files import Inputs, Loaded, ReadingWatch, load_files
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.pooling.annotator_comparison import AnnotatorGold, compared
from sandscore.pooling.annotator_pooling import pooled
from sandscore.scoring.card_building import Question
from sandscore.scoring.scoring_flow import Scored, score_loaded
from sandscore.task_table.task import Task


def score_against_each(
    question: Question,
    inputs: Sequence[Inputs],
    *,
    complete: bool = False,
    jobs: int = 1,
    watch: ReadingWatch,
) -> Scored:
    """The card over all annotators: counts are added up over them. Each of ``inputs`` has one annotator's gold."""
    if inputs[0].notes is None:
        raise UsageFault("gold of several annotators needs --notes: only the notes say which words neither annotated")
    if sum(str(file) == "-" for given in inputs for file in (given.gold, given.predictions)) > 1:
        raise UsageFault("standard input (-) can be read only once")
    parts = _loaded(question.task, inputs, complete, watch)
    for part, given in zip(parts, inputs, strict=True):
        if part.faulty("gold", "notes"):
            raise OrganiserFault(f"{given.gold} or the notes are not valid; nothing was scored")
    told = [AnnotatorGold(part.columns["gold"], part.spoken_of) for part in parts]
    agreement = compared(parts[0].dataset, told) if not parts[0].faulty("predictions") else None
    whole = pooled(parts) if agreement is not None else parts[0]
    scored = score_loaded(question, whole, jobs)
    return replace(scored, card=scored.card.model_copy(update={"agreement": agreement}))


def _loaded(task: Task, inputs: Sequence[Inputs], complete: bool, watch: ReadingWatch) -> list[Loaded]:
    """Every annotator's gold, the first with the predictions; all of them join notes by the same names."""

    def read(given: Inputs, *, whole_names: bool) -> Loaded:
        with watch.reading(given.given.values()) as progress:
            return load_files(task, given, complete=complete, whole_names=whole_names, progress=progress)

    first, *others = inputs
    each = [Inputs(**first.given), *(Inputs(gold=one.gold, notes=one.notes) for one in others)]
    parts = [read(given, whole_names=False) for given in each]
    if any(part.dataset.whole_names for part in parts):
        parts = [
            part if part.dataset.whole_names else read(given, whole_names=True)
            for part, given in zip(parts, each, strict=True)
        ]
    for at, part in enumerate(parts):
        watch.problems(found for role, found in part.findings.items() if role != "notes" or not at)
    return parts
