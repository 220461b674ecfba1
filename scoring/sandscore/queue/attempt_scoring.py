"""Predictions of an attempt to a score card and what the team may be told: done in the process that sees gold.

Gold and notes stay in memory from one submission to the next, for as long as their files stay as they are.
"""

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from sandscore.annotations.input_files import Reference
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.whole_files import Drafts, write_synced
from sandscore.disclosure.feedback_view import view_of
from sandscore.disclosure.team_reasons import PublicProblems, public_problems, reason_of
from sandscore.measures.hipaa_map import HipaaMap, load_hipaa_map
from sandscore.queue.attempt_files import PREDICTIONS, PROBLEMS, RUN, card_name
from sandscore.queue.children.child_messages import Blame, FaultAnswer, ScoreAnswer, SubmissionScoreRequest
from sandscore.queue.workspace import Workspace
from sandscore.ranking.card_reading import RankedCard
from sandscore.ranking.challenge_reading import rules_for
from sandscore.records.record_reading import file_content
from sandscore.scoring.card_building import Identity, Question, dumped
from sandscore.scoring.scoring_flow import InvalidPredictions, score_beside
from sandscore.task_table.task import Task

if TYPE_CHECKING:
    from sandscore.records.board import BoardRules
    from sandscore.records.scorecard import Scorecard

_MOST_BYTES = 1 << 28
_SETTLED_SECONDS = 1.0
_SIZE, _CHANGED = 2, -1
Marks = tuple[tuple[int, ...], ...]
"""For each file: device, number, size, when it was written, when it was changed."""


class _Kept(Struct, frozen=True):
    reference: Reference
    marks: Marks
    size: int


class References:
    """The last ones used, up to so many bytes of their files. The one asked for last is kept whatever its size."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: dict[tuple[Task, Path, Path], _Kept] = {}

    def find(self, task: Task, gold: Path, notes: Path) -> Reference:
        """As the files are now."""
        key, marks = (task, gold, notes), _marks(gold, notes)
        settled = _settled(marks)
        kept = self._kept.pop(key, None)
        if kept is None or kept.marks != marks:
            kept = None  # what is outdated goes before its successor comes
            kept = _Kept(Reference(task, gold, notes), marks, sum(mark[_SIZE] for mark in marks))
        if settled:
            self._kept[key] = kept
            self._make_room()
        return kept.reference

    def _make_room(self) -> None:
        while len(self._kept) > 1 and sum(kept.size for kept in self._kept.values()) > self._most_bytes:
            del self._kept[next(iter(self._kept))]


def _marks(*paths: Path) -> Marks:
    """What changes when a file does. Opened, not only looked up: a network's file system asks its server then."""
    found = []
    for path in paths:
        with path.open("rb") as file:
            seen = os.fstat(file.fileno())
        found.append((seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns))
    return tuple(found)


def _settled(marks: Marks) -> bool:
    """Files changed a moment ago may change again without their marks showing it: they are read anew next time."""
    return max(mark[_CHANGED] for mark in marks) < time.time_ns() - _SETTLED_SECONDS * 1e9


class Scorer:
    """Scores one attempt after another; rules and maps are read once, gold and notes when they change."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._references = References()
        self._rules: dict[tuple[str, str | None], BoardRules] = {}
        self._hipaa: HipaaMap | None = None

    def score(self, job: SubmissionScoreRequest, drafts: Drafts) -> ScoreAnswer | FaultAnswer:
        """F1 by measure and what the team may be told. Files go to ``drafts``."""
        task, folder = self._workspace.task(job.task), Path(job.folder)
        gold, notes = self._workspace.gold(task.id, job.phase), self._workspace.notes(job.phase)
        reference = self._references.find(task, gold, notes)
        question = Question(task, (), self._map() if task.hipaa else None, _identity(job, folder, notes.parent.name))
        complete = self._workspace.settings.complete
        try:
            scored = score_beside(question, reference, folder / PREDICTIONS, complete=complete)
        except InvalidPredictions as fault:
            return FaultAnswer(Blame.PARTICIPANT, reason_of(_told(fault.found, folder, drafts)))
        if (found := scored.loaded.findings["predictions"]).counts:
            _told(found, folder, drafts)
        self._keep_gold(gold, task.id, scored.loaded.sha256["gold"])
        card = scored.card
        drafts.write(folder / card_name(job.version), dumped(card))
        scores = {name: one.ranked for name, one in card.measures.items()}
        return ScoreAnswer(scores, card.signature, self._feedback(card, job.phase))

    def _feedback(self, card: "Scorecard", phase: str | None) -> dict[str, object] | None:
        key = card.task, phase
        if key not in self._rules:
            self._rules[key], _ = rules_for(self._workspace.challenge, *key)
        rules = self._rules[key]
        if rules.feedback == "ladder" and not rules.ended:
            return None
        name = str(card.submission)
        view, _ = view_of(RankedCard(card, name, "", name, name), rules)
        return view

    def _map(self) -> HipaaMap:
        self._hipaa = self._hipaa or load_hipaa_map(self._workspace.settings.hipaa_map)
        return self._hipaa

    def _keep_gold(self, gold: Path, task: str, sha256: str) -> None:
        copy = self._workspace.gold_seen / f"{task}.{sha256[:12]}.json"
        if not copy.exists():
            write_synced(copy, file_content(gold))


def _told(found: ProblemCollector, folder: Path, drafts: Drafts) -> PublicProblems:
    """What the team may know of the problems, written beside its predictions."""
    problems = public_problems(found)
    drafts.write(folder / PROBLEMS, json.dumps(msgspec.to_builtins(problems), indent=1).encode())
    return problems


def _identity(job: SubmissionScoreRequest, folder: Path, dataset: str) -> Identity:
    run = folder / RUN
    facts = json.loads(run.read_bytes()) if run.exists() else None
    return Identity(job.team, job.submission, job.image, dataset, job.created, facts)
