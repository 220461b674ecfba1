"""The process that makes boards and site: cards in, pages out."""

import sys
from pathlib import Path

from sandscore.queueing.boards import rebuild
from sandscore.queueing.children.answering import answer_once
from sandscore.queueing.workspace import open_workspace

if __name__ == "__main__":
    workspace = open_workspace(Path(sys.argv[1]))
    answer_once(lambda job: rebuild(workspace, job["submissions"]))
