"""The process that makes boards and site: cards in, pages out."""

import sys
from pathlib import Path

from sandscore.queue.board_making import rebuild
from sandscore.queue.children.child_answers import answer_once
from sandscore.queue.children.child_messages import BOARDS_REQUESTS
from sandscore.queue.workspace import asked_workspace

if __name__ == "__main__":
    root = Path(sys.argv[1])
    answer_once(
        lambda asked: rebuild(asked_workspace(root, asked.challenge), asked.submissions, asked.accepted),
        BOARDS_REQUESTS,
    )
