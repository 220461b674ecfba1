"""Predictions of an attempt to a score card and what the team may be told: done in the process that sees gold."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.whole_files import Drafts, write_synced
from sandscore.disclosure.feedback_view import view_of
from sandscore.disclosure.team_reasons import PublicProblems, public_problems, reason_of
from sandscore.measures.hipaa_map import HipaaMap, load_hipaa_map
from sandscore.queue.attempt_files import PREDICTIONS, PROBLEMS, RUN, card_name
from sandscore.queue.children.child_messages import Blame, FaultAnswer, ScoreAnswer, SubmissionScoreRequest
from sandscore.queue.gold_cache import References
from sandscore.queue.workspace import Workspace
from sandscore.ranking.card_reading import RankedCard
from sandscore.ranking.challenge_reading import rules_for
from sandscore.records.record_reading import file_content
from sandscore.scoring.card_building import Identity, Question, dumped
from sandscore.scoring.scoring_flow import InvalidPredictions, score_beside

if TYPE_CHECKING:
    from sandscore.records.board import BoardRules
    from sandscore.records.scorecard import Scorecard


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
        scores = {name: one.f1 for name, one in card.measures.items()}
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
