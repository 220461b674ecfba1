"""The release of a few lines of a log of hidden notes that a person has read: short, and counted in full."""

import re
from pathlib import Path

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.queue.attempt_files import LOG, write_team_file
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.team_release import TeamRelease
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Submission

MOST_CHARACTERS = 2000
WARNING = (
    "Masks cannot stop an image that encodes what it read: numbers, odd words or the order of lines may hold note "
    "text. Release only what you understand."
)
_LINES = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")


class LogExcerpt(Struct, frozen=True):
    """Lines of one submission's log, the first and the last of them counted from 1."""

    submission: Submission
    folder: Path
    first: int
    last: int
    text: str

    @property
    def name(self) -> str:
        return f"log-lines-{self.first}-{self.last}.txt"


async def excerpt(home: QueueHome, workspace: Workspace, submission_id: str, lines: str | None) -> LogExcerpt:
    """What would be released; refused where the challenge gives no reviewed logs, or where it is too much."""
    one = next((one for one in await home.submissions() if one.id == submission_id), None)
    if one is None:
        raise UsageFault(f"there is no submission {submission_id} in this queue")
    policy = TeamRelease(workspace, one).policy
    if policy.logs != "reviewed":
        raise UsageFault(f"the challenge says logs = '{policy.logs}'; a log is released with logs = 'reviewed' alone")
    folder = await home.kept(one)
    if folder is None or not (folder / LOG).exists():
        raise UsageFault(f"there is no log of {submission_id}: its run has not ended, or it was no image")
    found = (folder / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    first, last = _chosen(lines, len(found))
    text = "\n".join(found[first - 1 : last])
    if len(text) > MOST_CHARACTERS:
        raise UsageFault(
            f"lines {first}-{last} have {len(text):,} characters; at most {MOST_CHARACTERS:,} are released at once: "
            "choose some with --lines A-B"
        )
    return LogExcerpt(one, folder, first, last, text)


def _chosen(lines: str | None, count: int) -> tuple[int, int]:
    if not count:
        raise UsageFault("the log is empty")
    if lines is None:
        return 1, count
    said = _LINES.fullmatch(lines)
    if said is None:
        raise UsageFault(f"--lines {lines}: written A-B, the first and the last line")
    first, last = int(said[1]), int(said[2])
    if not first <= last <= count:
        raise UsageFault(f"--lines {lines}: the log has lines 1-{count}")
    return first, last


async def release_excerpt(home: QueueHome, workspace: Workspace, chosen: LogExcerpt) -> float:
    """For the team's view from now on; how many bits of the notes that tells at most. The ledger has it first."""
    released = TeamRelease(workspace, chosen.submission).reviewed(chosen.text)
    await home.disclose([released.line])
    write_team_file(chosen.folder, chosen.name, released)
    return released.line.bits
