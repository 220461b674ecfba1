"""The process that sees gold. It reads files and never runs anything of a participant's."""

import sys
from pathlib import Path

from sandscore.base.whole_files import Drafts
from sandscore.queue.attempt_scoring import Scorer
from sandscore.queue.children.child_answers import answered, refused, serve
from sandscore.queue.children.child_messages import (
    BATCH_REQUESTS,
    BatchAnswer,
    BatchRequest,
    ScorerAnswer,
    ScorerRequest,
    SubmissionScoreRequest,
)
from sandscore.queue.gold_changes import changes
from sandscore.queue.workspace import Workspace, open_workspace

_LEVELS = 3
"""An attempt's folder, and those it was made in."""


class Desk:
    """Takes several jobs at once, of either kind: predictions to score, or two golds to compare."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._scorer = workspace, Scorer(workspace)

    def work(self, asked: BatchRequest) -> BatchAnswer:
        """Each job's own answer; what was made for it is on disk when it comes."""
        drafts = Drafts()
        answers = [answered(lambda job: self._one(job, drafts), job) for job in asked.jobs]
        faults = drafts.settle(_LEVELS)
        for number, job in enumerate(asked.jobs):
            if isinstance(job, SubmissionScoreRequest) and (fault := faults.get(Path(job.folder))) is not None:
                answers[number] = refused(fault)
        return BatchAnswer(tuple(answers))

    def _one(self, job: ScorerRequest, drafts: Drafts) -> ScorerAnswer:
        return (
            self._scorer.score(job, drafts)
            if isinstance(job, SubmissionScoreRequest)
            else changes(self._workspace, job)
        )


if __name__ == "__main__":
    serve(Desk(open_workspace(Path(sys.argv[1]))).work, BATCH_REQUESTS)
