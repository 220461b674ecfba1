"""Predictions of an attempt to a score card and what the team may be told: done in the process that sees gold.

Gold and notes stay in memory from one submission to the next, for as long as their files stay as they are.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.input_files import Loaded
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.errors import InfrastructureFault, OrganiserFault, ParticipantFault
from sandscore.base.file_marks import Marks, marks_of, settled
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.base.whole_files import Drafts, write_file, write_synced
from sandscore.challenges.challenge_reading import extra_measures, rules_for
from sandscore.disclosure.gate import release
from sandscore.disclosure.outcome_views import ScoreItem
from sandscore.disclosure.policy_choice import policy_for
from sandscore.disclosure.problem_view import LISTED, ShownProblems, reason_of
from sandscore.disclosure.released import pack
from sandscore.measures.hipaa_map import HipaaMap, load_hipaa_map
from sandscore.queue.attempt_files import COPIES, PREDICTIONS, PROBLEMS, RUN, card_name
from sandscore.queue.cell.cell_need import require_cell
from sandscore.queue.cell.reading_cell import ReadingCells
from sandscore.queue.children.child_messages import TOO_COSTLY, Blame, FaultAnswer, ScoreAnswer, SubmissionScoreRequest
from sandscore.queue.gold_reference import ReadPredictions, Reference
from sandscore.queue.kept_counts import kept_content
from sandscore.queue.phase_groups import copies_in, slices_in, why_unscored
from sandscore.queue.queue_layout import OWNER_FILE, OWNER_FOLDER
from sandscore.queue.shared_data import content_sha256, phases_sharing
from sandscore.queue.workspace import Workspace
from sandscore.ranking.card_reading import RankedCard
from sandscore.records.carried_run import CarriedRun
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.record_reading import file_content
from sandscore.records.released_view import Audience, PackedView
from sandscore.scoring.card_building import Identity, Question, dumped
from sandscore.scoring.scoring_flow import InvalidPredictions, Scored, score_loaded
from sandscore.task_table.task import Task

if TYPE_CHECKING:
    from sandscore.leaks.identifier_classes import ClassMap
    from sandscore.records.ranking_rules import BoardRules
    from sandscore.records.scorecard import Scorecard
    from sandscore.slices.robustness import CopyResult

_MOST_BYTES = 1 << 28
_SIZE = 2
_NAMED = 12


class _Kept(Struct, frozen=True):
    reference: Reference
    marks: Marks
    size: int


class References:
    """The last ones used, up to so many bytes of their files. The one asked for last is kept whatever its size.

    ``indexes``: the folder of gold indexes, by which workers share what one of them has read.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES, indexes: Path | None = None) -> None:
        self._most_bytes, self._indexes = most_bytes, indexes
        self._kept: dict[tuple[Task, Path, Path, bool], _Kept] = {}

    def find(self, task: Task, gold: Path, notes: Path, *, whole_names: bool = False) -> Reference:
        """As the files are now."""
        key, marks = (task, gold, notes, whole_names), marks_of(gold, notes)
        kept = self._kept.pop(key, None)
        if kept is None or kept.marks != marks:
            kept = None  # what is outdated goes before its successor comes
            index = self._index(task, gold, notes, whole_names)
            reference = Reference(task, gold, notes, whole_names=whole_names, index=index)
            kept = _Kept(reference, marks, sum(mark[_SIZE] for mark in marks))
        if settled(marks):
            self._kept[key] = kept
            self._make_room()
        return kept.reference

    def _index(self, task: Task, gold: Path, notes: Path, whole_names: bool) -> Path | None:
        """Of a task and its files, wherever they lie; what they hold is the index's to say."""
        if self._indexes is None:
            return None
        lying = sha256(f"{gold.absolute()}\n{notes.absolute()}\n{whole_names}".encode("utf-8", "surrogateescape"))
        return self._indexes / f"{task.id}.{lying.hexdigest()[:_NAMED]}.index"

    def _make_room(self) -> None:
        while len(self._kept) > 1 and sum(kept.size for kept in self._kept.values()) > self._most_bytes:
            del self._kept[next(iter(self._kept))]


def read_beside(
    find: Callable[..., Reference], cells: ReadingCells, predictions: Path, *, complete: bool
) -> tuple[Reference, ReadPredictions]:
    """Predictions, read in a cell; again where notes must be told apart by their whole names."""
    reference = find()
    read = cells.read(reference, predictions, complete=complete)
    if read is None:
        reference = find(whole_names=True)
        read = cells.read(reference, predictions, complete=complete)
    if read is None:
        raise InfrastructureFault("whole names of notes were asked for twice")
    return reference, read


def _score_beside(question: Question, reference: Reference, predictions: ReadPredictions) -> Scored:
    """Scores predictions that another process has read, beside gold and notes that were read before."""
    for role in ("gold", "notes"):
        if reference.loaded.faulty(role):
            raise OrganiserFault(f"{role} not valid; sandscore validate says where")
    return score_loaded(question, reference.beside(predictions), notes=reference.notes)


class Scorer:
    """Scores one attempt after another; rules and maps are read once, gold and notes when they change."""

    def __init__(self, workspace: Workspace, cells: ReadingCells) -> None:
        self._workspace, self._cells = workspace, cells
        self._references = References(indexes=workspace.indexes)
        self._rules: dict[tuple[str, str | None], BoardRules] = {}
        self._policies: dict[tuple[str, str | None, tuple[str, ...]], DisclosurePolicy] = {}
        self._hipaa: HipaaMap | None = None
        self._classes: ClassMap | None = None

    def score(self, job: SubmissionScoreRequest, drafts: Drafts) -> ScoreAnswer | FaultAnswer:
        """F1 by measure and what the team may be told. Files go to ``drafts``."""
        task, folder = self._workspace.task(job.task), Path(job.folder)
        gold = self._workspace.gold(task.id, job.phase)
        reference, read = self.read(task, job.phase, folder)
        extra = self._extra(task, job.phase)
        identity = _identity(job, folder, self._workspace.dataset(job.phase))
        hipaa, slices = self._map() if task.hipaa else None, slices_in(self._workspace, reference.loaded)
        question = Question(task, extra, hipaa, identity, self._class_map(), slices=slices)
        try:
            scored = _score_beside(question, reference, read)
        except InvalidPredictions as fault:
            _keep(fault.found, folder, drafts)
            return FaultAnswer(Blame.PARTICIPANT, reason_of(fault.found), dict(fault.found.counts))
        card = scored.card
        if slices:
            with REMOVABLE:
                from sandscore.slices.slice_analysis import with_slices
            card = with_slices(scored)
        if (found := scored.loaded.findings["predictions"]).counts:
            _keep(found, folder, drafts)
        self._keep_gold(gold, task.id, scored.loaded.sha256["gold"])
        card = self._with_copies(card, job, folder, replace(question, slices=()))
        notes_sha256 = content_sha256(self._workspace.notes(job.phase))
        self._keep_counts(job.submission, kept_content(question, scored.loaded, card, notes_sha256))
        drafts.write(folder / card_name(job.version), dumped(card))
        scores = {name: one.ranked for name, one in card.measures.items()}
        return ScoreAnswer(scores, card.signature, self._feedback(card, job.phase))

    def read(self, task: Task, phase: str | None, folder: Path) -> tuple[Reference, ReadPredictions]:
        """Predictions, read in a cell, and what they are read beside."""
        require_cell(self._workspace.challenge, phase, filtered=self._cells.filtered)
        find = partial(self._references.find, task, self._workspace.gold(task.id, phase), self._workspace.notes(phase))
        return read_beside(find, self._cells, folder / PREDICTIONS, complete=self._workspace.settings.complete)

    def _with_copies(
        self, card: "Scorecard", job: SubmissionScoreRequest, folder: Path, question: Question
    ) -> "Scorecard":
        """With its scores on perturbed copies, where the image has seen any."""
        if not (folder / COPIES).is_dir():
            return card
        with REMOVABLE:
            from sandscore.slices.robustness import with_robustness

        return with_robustness(card, [*self._on_copies(job, folder, question)])

    def _on_copies(self, job: SubmissionScoreRequest, folder: Path, question: Question) -> "Iterator[CopyResult]":
        """A copy on which the image failed, or of which its answers are not valid, leaves the score as it is."""
        from sandscore.slices.robustness import CopyResult

        task = question.task
        for copy in copies_in(self._workspace, task.id, job.phase).there:
            place = folder / COPIES / copy.name
            if not (place / RUN).exists():  # it was named after the image had run
                continue
            if (reason := why_unscored(copy, place / RUN)) is None:
                find = partial(self._references.find, task, copy.gold(task.id), copy.notes)
                complete = self._workspace.settings.complete
                try:
                    scored = _score_beside(
                        question, *read_beside(find, self._cells, place / PREDICTIONS, complete=complete)
                    )
                except ParticipantFault as fault:
                    reason = TOO_COSTLY if str(fault).startswith(TOO_COSTLY) else "invalid"
            yield CopyResult(copy, None if reason else scored.card, reason)

    def question_of(self, task: Task, phase: str | None) -> tuple[Question, Loaded, str]:
        """What is asked of every submission, gold as it is now, and the SHA-256 of the notes."""
        gold, notes = self._workspace.gold(task.id, phase), self._workspace.notes(phase)
        extra = self._extra(task, phase)
        question = Question(task, extra, self._map() if task.hipaa else None, classes=self._class_map())
        return question, self._references.find(task, gold, notes).loaded, content_sha256(notes)

    def _keep_counts(self, submission: str, content: bytes | None) -> None:
        """For the next time that gold changes; without them the submission is scored again."""
        place = self._workspace.counts(submission)
        with suppress(OSError):
            if content is None:
                place.unlink(missing_ok=True)
            else:
                if not place.parent.is_dir():
                    place.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
                write_file(place, content, mode=OWNER_FILE)

    def _feedback(self, card: "Scorecard", phase: str | None) -> PackedView | None:
        key = card.task, phase
        policy = self._policy_for(*key)
        if policy.feedback == "ladder" and not policy.ended:
            return None
        name = str(card.submission)
        entry = RankedCard(card, name, "", name, name)
        item = ScoreItem(card=entry, rules=self._rules_for(*key), team=card.team, submission=name)
        return pack(release(item, Audience.TEAM, policy))

    def _extra(self, task: Task, phase: str | None) -> tuple[str, ...]:
        """Measures beside the task's own."""
        files = self._workspace.challenge.measure_files
        places = {digest: str(self._workspace.named_file(name)) for digest, name in files.items()}
        return extra_measures(self._rules_for(task.id, phase), task, places)

    def _rules_for(self, task: str, phase: str | None) -> "BoardRules":
        if (task, phase) not in self._rules:
            self._rules[task, phase], _ = rules_for(self._workspace.challenge, task, phase)
        return self._rules[task, phase]

    def _policy_for(self, task: str, phase: str | None) -> DisclosurePolicy:
        """Of the one challenge that it is made for; which phases share files is looked at each time, where there
        are any."""
        together = phases_sharing(self._workspace, task, phase) if self._workspace.challenge.phases else ()
        key = task, phase, together
        if key not in self._policies:
            self._policies[key] = policy_for(self._workspace.challenge, *key)
        return self._policies[key]

    def _class_map(self) -> "ClassMap | None":
        given = self._workspace.settings.class_map
        if given is not None and self._classes is None:
            with REMOVABLE:
                from sandscore.leaks.identifier_classes import load_class_map

            self._classes = load_class_map(given)
        return self._classes

    def _map(self) -> HipaaMap:
        self._hipaa = self._hipaa or load_hipaa_map(self._workspace.settings.hipaa_map)
        return self._hipaa

    def _keep_gold(self, gold: Path, task: str, sha256: str) -> None:
        copy = self._workspace.gold_seen / f"{task}.{sha256[:12]}.json"
        if not copy.exists():
            write_synced(copy, file_content(gold))


def _keep(found: ProblemCollector, folder: Path, drafts: Drafts) -> None:
    """The problems beside their predictions, for the organiser."""
    problems = ShownProblems(found.problems[:LISTED], dict(sorted(found.counts.items())), list(found.diagnosis))
    drafts.write(folder / PROBLEMS, json.dumps(msgspec.to_builtins(problems), indent=1).encode())


def _identity(job: SubmissionScoreRequest, folder: Path, dataset: str) -> Identity:
    run = folder / RUN
    facts = CarriedRun.model_validate(json.loads(run.read_bytes())) if run.exists() else None
    return Identity(job.team, job.submission, job.image, dataset, job.created, facts, job.name, job.phase)
