"""Planning as a call: how many patients a challenge needs."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from sandscore.api.ranking_calls import Steps, unfollowed
from sandscore.ranking.resampling import seed_of
from sandscore.separation.power_planning import Answer, PowerPlan, patients_needed, sizes_of_patients
from sandscore.task_table.task import Task, find_task


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
    simulating: Callable[[], Steps] = unfollowed,
) -> PowerAnswer:
    """How many patients, drawn from gold, separate two systems."""
    known = find_task(task)
    sizes = sizes_of_patients(known, gold, notes)
    seed = seed_of("power", known.id, sizes.gold, "")
    with simulating() as advance:
        answer = patients_needed(sizes.annotations, plan, seed, advance, sizes.characters)
    return PowerAnswer(plan, answer, len(sizes.annotations))
