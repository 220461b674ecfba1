"""Rescoring as a plan that can be read before it is carried out: who moves, by how much, and because of what."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from sandscore import __version__
from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.base.whole_files import write_synced
from sandscore.challenges.challenge_reading import rules_for
from sandscore.queue.attempt_files import COPIES, PREDICTIONS, RUN, card_name
from sandscore.queue.children.child_messages import (
    Blame,
    FaultAnswer,
    GoldAnswer,
    GoldChange,
    GoldRequest,
    RecountAnswer,
    RecountedSubmission,
    RecountRequest,
    ScoreAnswer,
    score_request,
    unfinished,
)
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.worker.executor import Hands
from sandscore.queue.workspace import SCRATCH, Workspace
from sandscore.ranking.card_reading import RankedCard, read_card
from sandscore.ranking.exact_order import exact_scores, number, sort_key
from sandscore.ranking.score_table import tabulate
from sandscore.records.counts import Counts
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import MeasureScore, Scorecard
from sandscore.records.submission import Status, Submission, Version


class Rescored(Struct, frozen=True):
    """One submission scored anew; ``answer`` is the scorer's."""

    submission: Submission
    before: RankedCard
    after: RankedCard | None
    folder: Path
    answer: ScoreAnswer | FaultAnswer | None = None
    """None where it was only recounted: the card is made when it is to be written."""

    @property
    def changed(self) -> bool:
        """Gold, map or harness differ, or a score does: predictions are the same by construction."""
        return self.after is None or self.after.card.signature != self.before.card.signature or self._scores_differ

    @property
    def _scores_differ(self) -> bool:
        return self.after is not None and _scores_on(self.after.card) != _scores_on(self.before.card)


def _scores_on(card: Scorecard) -> tuple[object, ...]:
    return card.measures, card.slices, card.robustness


class RescoredNote(Struct, frozen=True):
    """A note whose counts (tp, fp, fn, or the components) of the headline measure differ."""

    note: str
    before: tuple[int, ...] | None
    after: tuple[int, ...] | None


class RescoredMove(Struct, frozen=True):
    """How far a submission moves, and because of what; ``had``: the numbers of the changed annotations it has."""

    id: str
    team: str
    version: int
    before: float | None
    after: float | None
    delta: float | None
    rank_before: int | float | None
    rank_after: int | float | None
    refused: str | None
    notes: tuple[RescoredNote, ...]
    had: tuple[int, ...]


class ChangedGold(Struct, frozen=True):
    """What has changed since the gold of ``before`` (12 hex); None where that was not kept."""

    before: str
    changes: tuple[GoldChange, ...] | None


class RescoredGroup(Struct, frozen=True):
    """A task and phase of a plan, for people and programs."""

    task: str
    phase: str | None
    headline: str
    harness: str
    unchanged: int
    gold: tuple[ChangedGold, ...]
    submissions: tuple[RescoredMove, ...]


class RescoringPlan(Struct, frozen=True):
    """By task and phase who moves; and what ``apply`` will write."""

    groups: list[RescoredGroup] = field(default_factory=list)
    rescored: list[Rescored] = field(default_factory=list)


class Rescoring:
    """Scores what was kept again, in a folder of its own that goes when this is closed."""

    def __init__(self, home: QueueHome, workspace: Workspace, hands: Hands) -> None:
        self._home, self._workspace, self._hands = home, workspace, hands
        self._cleaning = ExitStack()
        self._scratch = Path(
            self._cleaning.enter_context(tempfile.TemporaryDirectory(dir=workspace.private, prefix=SCRATCH))
        )

    def close(self) -> None:
        self._cleaning.close()

    async def plan(self, ids: Sequence[str], *, counts: bool = True) -> RescoringPlan:
        """Of these submissions, or of all that are scored; ``counts``: those that were kept save scoring anew."""
        scored = [one for one in await self._home.submissions() if one.status is Status.SCORED]
        unknown = set(ids) - {one.id for one in scored}
        if unknown:
            raise ParticipantFault(f"not a scored submission: {', '.join(sorted(unknown))}")
        plan = RescoringPlan()
        chosen = [one for one in scored if not ids or one.id in ids]
        challenge = self._workspace.challenge
        counts = counts and not challenge.slices.by and not challenge.robustness.copies
        counted = await self._recounted(chosen) if counts else {}
        for one in chosen:
            plan.rescored.append(await self._counted_again(one, counted.get(one.id)) or await self._again(one))
        for task, phase, members in _groups(plan.rescored):
            plan.groups.append(await self._group(task, phase, members))
        return plan

    async def apply(self, plan: RescoringPlan, cause: str) -> list[str]:
        """New versions beside the old; those that another has changed meanwhile are left alone. Which were written.

        All cards are on disk before the first of them counts, and a home that puts changes of one moment together
        has all of them count at once.
        """
        made = []
        for planned in plan.rescored:
            one = await self._again(planned.submission) if planned.answer is None and planned.changed else planned
            folder = await self._home.kept(one.submission)
            if one.after is None or not isinstance(one.answer, ScoreAnswer) or not one.changed or folder is None:
                continue
            name, answer = card_name(one.submission.version + 1), one.answer
            write_synced(folder / name, (one.folder / name).read_bytes())
            version = Version(one.submission.version + 1, answer.scores, answer.told, answer.signature, cause)
            made.append((one.submission, version))
        added = await asyncio.gather(*(self._home.add_version(*one) for one in made))
        return [one.id for (one, _), done in zip(made, added, strict=True) if done]

    async def _recounted(self, chosen: Sequence[Submission]) -> dict[str, RecountedSubmission]:
        """Those of which the counts were kept, counted anew where gold changed."""
        found: dict[str, RecountedSubmission] = {}
        groups: dict[tuple[str, str | None], list[str]] = {}
        for one in chosen:
            groups.setdefault((one.task, one.phase), []).append(one.id)
        for (task, phase), members in groups.items():
            answer = await self._hands.score(RecountRequest(task, phase, tuple(members)))
            if isinstance(answer, RecountAnswer):
                found |= answer.submissions
        return found

    async def _counted_again(self, one: Submission, counted: RecountedSubmission | None) -> Rescored | None:
        """The card as far as a plan needs it; None where it cannot be had without scoring again."""
        kept = await self._home.kept(one) if counted is not None else None
        if counted is None or kept is None:
            return None
        before = read_card(kept / card_name(one.version))
        after = _with_counts(before, counted)
        return None if after is None else Rescored(one, before, after, kept)

    async def _again(self, one: Submission) -> Rescored:
        kept = await self._home.kept(one)
        if kept is None:
            raise OrganiserFault(f"what was kept of {one.id} is gone; queue requeue has it evaluated again")
        folder = self._scratch / one.id
        folder.mkdir()
        for name in (PREDICTIONS, RUN):
            if (kept / name).exists():
                shutil.copyfile(kept / name, folder / name)
        if (kept / COPIES).is_dir():
            shutil.copytree(kept / COPIES, folder / COPIES)
        answer = await self._hands.score(score_request(one, folder))
        if isinstance(answer, GoldAnswer | RecountAnswer) or (
            isinstance(answer, FaultAnswer) and answer.blame is not Blame.PARTICIPANT
        ):
            raise OrganiserFault(f"{one.id}: {unfinished(answer)}")
        before = read_card(kept / card_name(one.version))
        after = read_card(folder / card_name(one.version + 1)) if isinstance(answer, ScoreAnswer) else None
        return Rescored(one, before, after, folder, answer)

    async def _group(self, task: str, phase: str | None, members: Sequence[Rescored]) -> RescoredGroup:
        rules, _ = rules_for(self._workspace.challenge, task, phase)
        ranks = [_ranks(members, rules, new) for new in (False, True)]
        golds = sorted({one.before.signed("gold:") or "" for one in members if one.changed})
        compared = {gold: await self._changes(task, phase, gold, members) for gold in golds}
        holders = [answer.holders for answer in compared.values()]
        moves = tuple(_move(one, rules, ranks, holders) for one in members if one.changed)
        return RescoredGroup(
            task=task,
            phase=phase,
            headline=rules.headline,
            harness=__version__,
            unchanged=len(members) - len(moves),
            gold=tuple(ChangedGold(gold, answer.changes) for gold, answer in compared.items()),
            submissions=moves,
        )

    async def _changes(self, task: str, phase: str | None, gold: str, members: Sequence[Rescored]) -> GoldAnswer:
        folders = {one.submission.id: str(one.folder) for one in members if one.before.signed("gold:") == gold}
        answer = await self._hands.score(GoldRequest(task, phase, gold, folders))
        if not isinstance(answer, GoldAnswer):
            raise OrganiserFault(unfinished(answer))
        return answer


def _with_counts(before: RankedCard, counted: RecountedSubmission) -> RankedCard | None:
    """The card with other counts and what follows from them; None where it holds measures that were not counted."""
    card = before.card
    measures, per_note = dict(card.measures), dict(card.per_note)
    if measures.keys() != counted.totals.keys() or not counted.notes.keys() <= per_note.keys():
        return None
    for name, (tp, fp, fn) in counted.totals.items():
        score, counts = measures[name], Counts(tp, fp, fn)
        if not isinstance(score, MeasureScore) or score.formula is not None:
            return None
        ratios = (
            {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1} if score.reason is None else {}
        )
        measures[name] = score.model_copy(update={"tp": tp, "fp": fp, "fn": fn, **ratios})
    for note, rows in counted.notes.items():
        per_note[note] = dict(rows)
    update = {"measures": measures, "per_note": per_note, "signature": counted.signature}
    return replace(before, card=card.model_copy(update=update))


def _groups(rescored: Sequence[Rescored]) -> Iterator[tuple[str, str | None, list[Rescored]]]:
    keys = dict.fromkeys((one.submission.task, one.submission.phase) for one in rescored)
    for task, phase in sorted(keys, key=lambda key: (key[0], key[1] or "")):
        yield task, phase, [one for one in rescored if (one.submission.task, one.submission.phase) == (task, phase)]


def _ranks(members: Sequence[Rescored], rules: BoardRules, new: bool) -> dict[str, int | float]:
    """By submission; none where some were scored with another gold or by another version, and so had no board."""
    entries = [entry for one in members if (entry := one.after if new else one.before) is not None]
    try:
        table = tabulate([replace(entry, listed=entry.path) for entry in entries])
    except ParticipantFault:
        return {}
    keys = {name: sort_key(score) for name, score in zip(table.systems, exact_scores(table, rules), strict=True)}
    order = sorted(keys, key=lambda name: (keys[name], name))
    return dict(zip(order, number([keys[name] for name in order], rules.numbering), strict=True))


def _move(
    one: Rescored,
    rules: BoardRules,
    ranks: Sequence[dict[str, int | float]],
    holders: Sequence[Mapping[str, tuple[int, ...]]],
) -> RescoredMove:
    name, headline = one.submission.id, rules.headline
    before = one.before.card.measures[headline].ranked
    after = one.after.card.measures[headline].ranked if one.after else None
    return RescoredMove(
        id=name,
        team=one.submission.team,
        version=one.submission.version,
        before=before,
        after=after,
        delta=None if before is None or after is None else after - before,
        rank_before=ranks[0].get(name),
        rank_after=ranks[1].get(name),
        refused=one.answer.reason if isinstance(one.answer, FaultAnswer) else None,
        notes=tuple(_note_changes(one, headline)),
        had=next((held[name] for held in holders if name in held), ()),
    )


def _note_changes(one: Rescored, headline: str) -> Iterator[RescoredNote]:
    if one.after is None:
        return
    old, new = one.before.card.per_note, one.after.card.per_note
    pairs = ((note, old.get(note, {}).get(headline), new.get(note, {}).get(headline)) for note in {**old, **new})
    yield from (RescoredNote(note, then, now) for note, then, now in pairs if then != now)
