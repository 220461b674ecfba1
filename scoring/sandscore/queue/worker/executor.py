"""The executor of an attempt's work. Running and scoring are done by different processes, always."""

import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.children.batching import Together
from sandscore.queue.children.child_process import Child, runner_environment, scorer_environment

SCORING_SECONDS = 3600.0
_RUN_MARGIN_SECONDS = 900.0


class Hands(Protocol):
    """Jobs carry paths and digests: never notes, gold or tokens. Raises InfrastructureFault where a process fails."""

    async def run(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Run an image over notes into a folder; ``end`` of the answer is the run's outcome."""

    async def score(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Validate and score the predictions in a folder; ``end`` is scored, invalid, organiser or infrastructure."""

    async def close(self) -> None:
        """Stop whatever is still running."""


class LocalHands:
    """Child processes of this one: a scorer that stays, and a runner for each run."""

    def __init__(self, root: Path) -> None:
        self._scorer = Together(Child("scorer", (str(root),), scorer_environment()), SCORING_SECONDS)

    async def run(self, job: Mapping[str, Any]) -> dict[str, Any]:
        runner = Child("runner", (), runner_environment())
        seconds = 3 * job["limits"]["total_seconds"] + _RUN_MARGIN_SECONDS if "limits" in job else _RUN_MARGIN_SECONDS
        try:
            return await runner.ask(job, seconds)
        finally:
            if await runner.stop() == -signal.SIGKILL:
                await self._sweep()

    async def score(self, job: Mapping[str, Any]) -> dict[str, Any]:
        return await self._scorer.ask(job)

    async def close(self) -> None:
        await self._scorer.close()

    async def _sweep(self) -> None:
        """A runner that had to be killed could not clean up."""
        sweeper = Child("runner", (), runner_environment())
        with suppress(InfrastructureFault):  # every run looks for leftovers too
            await sweeper.ask({"sweep": True}, _RUN_MARGIN_SECONDS)
        await sweeper.stop()
