"""The releases that end an attempt: reason, problems, log and status, each as the policy lets the team have it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from sandscore.base.whole_files import write_synced
from sandscore.disclosure.gate import release
from sandscore.disclosure.outcome_views import ReasonItem, StatusItem
from sandscore.disclosure.policy_choice import policy_for
from sandscore.disclosure.problem_view import ProblemsItem
from sandscore.disclosure.released import Item
from sandscore.disclosure.run_views import LogItem, RehearsalItem
from sandscore.queue.attempt_files import (
    EARLY_LOG,
    LOG,
    NOTES,
    PREDICTIONS,
    PROBLEMS,
    REFUSED,
    REHEARSAL,
    RUN,
    TEAM,
    write_team_file,
)
from sandscore.queue.challenge_limits import limits_of
from sandscore.queue.workspace import Workspace
from sandscore.records.diagnosis import Diagnosis
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.problem import Problem
from sandscore.records.released_view import Audience, Released
from sandscore.records.submission import Submission, SubmissionKind, Verdict

_View = TypeVar("_View", covariant=True)  # noqa: PLC0105


class TeamRelease:
    """What the team of one submission may have. Nothing here depends on gold, nor on whether a phase has ended."""

    def __init__(self, workspace: Workspace, submission: Submission) -> None:
        self._workspace, self._one = workspace, submission
        self.policy: DisclosurePolicy = policy_for(workspace.challenge, submission.task, submission.phase)

    def _release(self, item: Item[_View]) -> Released[_View]:
        one = self._one
        return release(replace(item, team=one.team, submission=one.id, attempt=one.attempt), Audience.TEAM, self.policy)

    def reason(self, sentence: str, **facts: Any) -> Released[str]:
        """Why it is not scored; ``facts`` are those of ``ReasonItem``."""
        image = self._one.kind is SubmissionKind.IMAGE
        return self._release(ReasonItem(sentence=sentence, image=image, **facts))

    def with_files(self, verdict: Verdict) -> Verdict:
        """The verdict with everything that becomes visible beside it; the team's files lie in its folder."""
        found: list[Released[object]] = [self._status(verdict)]
        if (folder := verdict.folder) is not None:
            for name, released in (*self._problems(folder), *self._logs(folder)):
                write_team_file(folder, name, released)
                found.append(released)
            if (folder / REHEARSAL).is_dir():
                found.append(self.rehearsal(folder / REHEARSAL))
        return replace(verdict, beside=(*verdict.beside, *found))

    def rehearsal(self, folder: Path) -> Released[object]:
        """All of a rehearsal, in ``team/`` of its folder."""
        here = {name: folder / name for name in (RUN, NOTES, PREDICTIONS, REFUSED, PROBLEMS, LOG)}
        found = {name: path.read_text("utf-8", "replace") for name, path in here.items() if path.exists()}
        log = {name: found.pop(name) for name in (LOG,) if name in found}
        released = self._release(RehearsalItem(files=found, log=log))
        for name, text in (released.view or {}).items():
            (folder / TEAM).mkdir(exist_ok=True)
            write_synced(folder / TEAM / name, text.encode("utf-8", "replace"))
        return released

    def reviewed(self, text: str) -> Released[str | None]:
        """Lines of the log that the organiser has read."""
        return self._release(LogItem(text=text, reviewed=True))

    def _status(self, verdict: Verdict) -> Released[object]:
        image = self._one.kind is SubmissionKind.IMAGE
        limit = limits_of(self._workspace.challenge.limits).total_seconds if image else None
        return self._release(StatusItem(status=str(verdict.status), time_limit=limit))

    def _problems(self, folder: Path) -> list[tuple[str, Released[object]]]:
        if not (folder / PROBLEMS).exists():
            return []
        kept = json.loads((folder / PROBLEMS).read_bytes())
        problems = [Problem(**one) for one in kept["problems"]]
        diagnosis = [Diagnosis(**one) for one in kept.get("diagnosis", ())]
        item = ProblemsItem(problems=problems, counts=kept["counts"], diagnosis=diagnosis)
        return [(PROBLEMS, self._release(item))]

    def _logs(self, folder: Path) -> Iterator[tuple[str, Released[object]]]:
        """Of an image on hidden notes what had come before it was handed one."""
        for name, early in ((LOG, False), (EARLY_LOG, True)):
            if (folder / name).exists() and (not early or self.policy.notes_hidden):
                text = (folder / name).read_text(encoding="utf-8", errors="replace")
                yield name, self._release(LogItem(text=text, before_notes=early))
