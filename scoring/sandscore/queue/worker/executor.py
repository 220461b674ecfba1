"""The executor of an attempt's work. Running and scoring are done by different processes, always."""

import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.children.batching import Together
from sandscore.queue.children.child_messages import (
    BATCH_ANSWERS,
    RUNNER_ANSWERS,
    RunnerAnswer,
    RunnerRequest,
    ScorerAnswer,
    ScorerRequest,
    SubmissionRunRequest,
    SweepRequest,
)
from sandscore.queue.children.child_process import Child, runner_environment, scorer_environment

SCORING_SECONDS = 3600.0
_RUN_MARGIN_SECONDS = 900.0


class Hands(Protocol):
    """Runs images and scores predictions. Raises InfrastructureFault where a process fails."""

    async def run(self, job: RunnerRequest) -> RunnerAnswer:
        """Run an image over notes into a folder, or remove what dead runs have left."""

    async def score(self, job: ScorerRequest) -> ScorerAnswer:
        """Validate and score the predictions in a folder, or compare two golds."""

    async def close(self) -> None:
        """Stop whatever is still running."""


class LocalHands:
    """Child processes of this one: a scorer that stays, and a runner for each run."""

    def __init__(self, root: Path, challenge: Callable[[], str] | None = None) -> None:
        """``challenge``: what is in force, where that is not what the file says when the scorer begins."""
        child = Child("scorer", (str(root),), scorer_environment(), BATCH_ANSWERS)
        self._scorer = Together(child, SCORING_SECONDS, challenge)

    async def run(self, job: RunnerRequest) -> RunnerAnswer:
        runner = Child("runner", (), runner_environment(), RUNNER_ANSWERS)
        running = 3 * job.limits.total_seconds if isinstance(job, SubmissionRunRequest) else 0.0
        try:
            return await runner.ask(job, running + _RUN_MARGIN_SECONDS)
        finally:
            if await runner.stop() == -signal.SIGKILL:
                await self._sweep(job.engine)

    async def score(self, job: ScorerRequest) -> ScorerAnswer:
        return await self._scorer.ask(job)

    async def close(self) -> None:
        await self._scorer.close()

    async def _sweep(self, engine: str | None) -> None:
        """A runner that had to be killed could not clean up."""
        sweeper = Child("runner", (), runner_environment(), RUNNER_ANSWERS)
        with suppress(InfrastructureFault):  # every run looks for leftovers too
            await sweeper.ask(SweepRequest(engine), _RUN_MARGIN_SECONDS)
        await sweeper.stop()
