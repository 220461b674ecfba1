"""The process that sees gold. It reads files and never runs anything of a participant's."""

import sys
from pathlib import Path
from typing import Any

from sandscore.queueing.children.answering import Reply, answered, serve
from sandscore.queueing.goldchanges import changes
from sandscore.queueing.scoring import Scorer
from sandscore.queueing.workspace import Workspace, open_workspace, sync_folders
from sandscore.records.errors import InfrastructureFault


class Desk:
    """Takes several jobs at once, of either kind: predictions to score, or two golds to compare."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._scorer = workspace, Scorer(workspace)

    def work(self, asked: dict[str, Any]) -> Reply:
        """Each job's own answer; what was made for it is on disk when it comes."""
        jobs = asked["jobs"]
        answers = [answered(self._one, job) for job in jobs]
        synced: set[Path] = set()
        return {"answers": [_secured(job, answer, synced) for job, answer in zip(jobs, answers, strict=True)]}

    def _one(self, job: dict[str, Any]) -> Reply:
        return changes(self._workspace, job) if job.get("compare") else self._scorer.score(job)


def _secured(job: dict[str, Any], answer: Reply, synced: set[Path]) -> Reply:
    """The attempt's folder and those that were made with it; for several attempts hardly more work than for one."""
    if "folder" not in job:
        return answer
    folder = Path(job["folder"])
    new = {folder, folder.parent, folder.parent.parent} - synced
    try:
        sync_folders(new)
    except InfrastructureFault as fault:
        return {"end": "infrastructure", "reason": str(fault)}
    synced |= new
    return answer


if __name__ == "__main__":
    serve(Desk(open_workspace(Path(sys.argv[1]))).work)
