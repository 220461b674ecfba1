"""The process that sees gold. It reads files and never runs anything of a participant's."""

import sys
from pathlib import Path

from sandscore.queueing.children.answering import serve
from sandscore.queueing.scoring import Scorer
from sandscore.queueing.workspace import open_workspace

if __name__ == "__main__":
    serve(Scorer(open_workspace(Path(sys.argv[1]))).score)
