"""The challenge of a queue that is worked with: ``challenge.toml`` as its organiser last edited it.

Phases end, open and get other rules while workers go on. An edit that cannot be used is said once, and what held before
goes on holding until it is mended.
"""

from msgspec.structs import replace

from sandscore.base.clock import uptime
from sandscore.base.diagnostics import warn
from sandscore.base.errors import SandscoreError
from sandscore.challenges.challenge_reading import read_challenge
from sandscore.queue.challenge_names import refuse_unknown_names
from sandscore.queue.queue_layout import CHALLENGE, edited_path
from sandscore.queue.shared_data import refuse_contradictions
from sandscore.queue.workspace import Workspace
from sandscore.records.challenge import Challenge

_LOOK_SECONDS = 0.5


class EditedChallenge:
    """Looks at the file when it is asked, at most so often."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._marks, self._looked = self._as_edited(), uptime()

    def current(self) -> Challenge:
        if uptime() - self._looked >= _LOOK_SECONDS:
            self._looked = uptime()
            if (marks := self._as_edited()) != self._marks:
                self._marks = marks
                self._take_in()
        return self._workspace.given

    def _take_in(self) -> None:
        path = edited_path(self._workspace.root, CHALLENGE)
        try:
            edited = replace(self._workspace, given=read_challenge(path))
            refuse_unknown_names(edited, path)
            refuse_contradictions(edited)
        except SandscoreError as fault:
            warn(f"the edit is not used, and what was in force goes on: {fault}")
        else:
            self._workspace = edited
            warn(f"{path} was edited: it is in force")

    def _as_edited(self) -> tuple[int, int, int] | None:
        try:
            seen = edited_path(self._workspace.root, CHALLENGE).stat()
        except OSError:  # an editor that takes it away before it puts it back
            return None
        return seen.st_ino, seen.st_size, seen.st_mtime_ns


def following(workspace: Workspace) -> Workspace:
    """The same, whose challenge is as it was last edited."""
    return replace(workspace, follow=EditedChallenge(workspace).current)
