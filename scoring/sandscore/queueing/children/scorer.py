"""The process that sees gold. It reads files and never runs anything of a participant's."""

import sys
from pathlib import Path
from typing import Any

from sandscore.queueing.children.answering import Reply, serve
from sandscore.queueing.goldchanges import changes
from sandscore.queueing.scoring import Scorer
from sandscore.queueing.workspace import Workspace, open_workspace


class Desk:
    """Takes either kind of job: predictions to score, or two golds to compare."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._scorer = workspace, Scorer(workspace)

    def work(self, job: dict[str, Any]) -> Reply:
        return changes(self._workspace, job) if job.get("compare") else self._scorer.score(job)


if __name__ == "__main__":
    serve(Desk(open_workspace(Path(sys.argv[1]))).work)
