"""Tasks of a Dask worker. Jobs are references: paths, digests, numbers; answers are too.

A task may be carried out twice (its first worker was only thought dead), so each carries out its run in a folder of
its own and says which; what it was asked for is taken from the answer that arrived, and the rest is thrown away.
"""

import asyncio
import uuid
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.children.child_messages import (
    Blame,
    FaultAnswer,
    RunnerAnswer,
    ScorerAnswer,
    ScorerRequest,
    SubmissionRunRequest,
)
from sandscore.queue.worker.executor import LocalHands

_LOOK_SECONDS = 1.0
_scorers: dict[str, LocalHands] = {}


class ShardAnswer(Struct, frozen=True):
    """How a shard's run ended, and the folder of its files; None where the attempt was given up."""

    ended: RunnerAnswer
    folder: str | None = None


async def run_task(root: str, job: SubmissionRunRequest) -> ShardAnswer:
    """Run an image (resource ``runner``); stopped as soon as the attempt's folder is gone."""
    attempt = Path(job.folder)
    own = attempt / f"run-{uuid.uuid4().hex[:12]}"
    working = asyncio.ensure_future(_run(root, replace(job, folder=str(own))))
    try:
        while not working.done() and attempt.is_dir():
            await asyncio.wait({working}, timeout=_LOOK_SECONDS)
        if not working.done():
            return ShardAnswer(FaultAnswer(Blame.INFRASTRUCTURE, "the attempt was given up"))
        return ShardAnswer(working.result(), str(own))
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def score_task(root: str, job: ScorerRequest) -> ScorerAnswer:
    """Score a folder (resource ``scorer``); the scoring process stays for the next."""
    hands = _scorers.setdefault(root, LocalHands(Path(root)))
    try:
        return await hands.score(job)
    except InfrastructureFault as fault:
        return FaultAnswer(Blame.INFRASTRUCTURE, str(fault))


async def _run(root: str, job: SubmissionRunRequest) -> RunnerAnswer:
    try:
        return await LocalHands(Path(root)).run(job)
    except InfrastructureFault as fault:
        return FaultAnswer(Blame.INFRASTRUCTURE, str(fault))
