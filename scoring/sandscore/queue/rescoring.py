"""Rescoring as a plan that can be read before it is carried out: who moves, by how much, and because of what."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from sandscore import __version__
from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.base.whole_files import write_synced
from sandscore.queue.attempt_files import PREDICTIONS, RUN, card_name
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.worker.executor import Hands
from sandscore.queue.workspace import SCRATCH, Workspace
from sandscore.ranking.aggregation import exact_scores
from sandscore.ranking.card_reading import RankedCard, read_card
from sandscore.ranking.challenge_reading import rules_for
from sandscore.ranking.exact_order import number, sort_key
from sandscore.ranking.score_table import tabulate
from sandscore.records.board import BoardRules
from sandscore.records.submission import Status, Submission, Version


class Rescored(Struct, frozen=True):
    """One submission scored anew; ``answer`` is the scorer's."""

    submission: Submission
    before: RankedCard
    after: RankedCard | None
    folder: Path
    answer: dict[str, Any]

    @property
    def changed(self) -> bool:
        """Gold, map or harness differ, or a score does: predictions are the same by construction."""
        return self.after is None or self.after.card.signature != self.before.card.signature or self._scores_differ

    @property
    def _scores_differ(self) -> bool:
        return self.after is not None and self.after.card.measures != self.before.card.measures


class RescoringPlan(Struct, frozen=True):
    """By task and phase: records for people and programs; and what ``apply`` will write."""

    groups: list[dict[str, Any]] = field(default_factory=list)
    rescored: list[Rescored] = field(default_factory=list)


class Rescoring:
    """Scores what was kept again, in a folder of its own that goes when this is closed."""

    def __init__(self, home: QueueHome, workspace: Workspace, hands: Hands) -> None:
        self._home, self._workspace, self._hands = home, workspace, hands
        self._cleaning = ExitStack()
        self._scratch = Path(
            self._cleaning.enter_context(tempfile.TemporaryDirectory(dir=workspace.root, prefix=SCRATCH))
        )

    def close(self) -> None:
        self._cleaning.close()

    async def plan(self, ids: Sequence[str]) -> RescoringPlan:
        """Of these submissions, or of all that are scored."""
        scored = [one for one in await self._home.submissions() if one.status is Status.SCORED]
        unknown = set(ids) - {one.id for one in scored}
        if unknown:
            raise ParticipantFault(f"not a scored submission: {', '.join(sorted(unknown))}")
        plan = RescoringPlan()
        for one in scored:
            if not ids or one.id in ids:
                plan.rescored.append(await self._again(one))
        for task, phase, members in _groups(plan.rescored):
            plan.groups.append(await self._group(task, phase, members))
        return plan

    async def apply(self, plan: RescoringPlan, cause: str) -> list[str]:
        """New versions beside the old; those that another has changed meanwhile are left alone. Which were written."""
        done = []
        for one in plan.rescored:
            folder = await self._home.kept(one.submission)
            if one.after is None or not one.changed or folder is None:
                continue
            name = card_name(one.submission.version + 1)
            write_synced(folder / name, (one.folder / name).read_bytes())
            version = Version(
                one.submission.version + 1,
                one.answer["scores"],
                one.answer["feedback"],
                one.answer["signature"],
                cause,
            )
            if await self._home.add_version(one.submission, version):
                done.append(one.submission.id)
        return done

    async def _again(self, one: Submission) -> Rescored:
        kept = await self._home.kept(one)
        if kept is None:
            raise OrganiserFault(f"what was kept of {one.id} is gone; queue requeue has it evaluated again")
        folder = self._scratch / one.id
        folder.mkdir()
        for name in (PREDICTIONS, RUN):
            if (kept / name).exists():
                shutil.copyfile(kept / name, folder / name)
        job = {
            "task": one.task,
            "phase": one.phase,
            "submission": one.id,
            "team": one.team,
            "image": one.image,
            "created": one.created,
            "version": one.version + 1,
            "folder": str(folder),
        }
        answer = await self._hands.score(job)
        if answer["end"] not in ("scored", "invalid"):
            raise OrganiserFault(f"{one.id}: {answer['reason']}")
        before = read_card(kept / card_name(one.version))
        after = read_card(folder / card_name(one.version + 1)) if answer["end"] == "scored" else None
        return Rescored(one, before, after, folder, answer)

    async def _group(self, task: str, phase: str | None, members: Sequence[Rescored]) -> dict[str, Any]:
        rules, _ = rules_for(self._workspace.challenge, task, phase)
        ranks = [_ranks(members, rules, new) for new in (False, True)]
        golds = sorted({one.before.signed("gold:") or "" for one in members if one.changed})
        changes = [await self._changes(task, phase, gold, members) for gold in golds]
        records = [_record(one, rules, ranks, changes) for one in members if one.changed]
        return {
            "task": task,
            "phase": phase,
            "headline": rules.headline,
            "harness": __version__,
            "unchanged": len(members) - len(records),
            "gold": [{name: value for name, value in one.items() if name != "holders"} for one in changes],
            "submissions": records,
        }

    async def _changes(self, task: str, phase: str | None, gold: str, members: Sequence[Rescored]) -> dict[str, Any]:
        folders = {one.submission.id: str(one.folder) for one in members if one.before.signed("gold:") == gold}
        job = {"compare": True, "task": task, "phase": phase, "before": gold, "folders": folders}
        answer = await self._hands.score(job)
        if answer["end"] != "compared":
            raise OrganiserFault(answer["reason"])
        return {"before": gold, "changes": answer["changes"], "holders": answer.get("holders", {})}


def _groups(rescored: Sequence[Rescored]) -> Iterator[tuple[str, str | None, list[Rescored]]]:
    keys = dict.fromkeys((one.submission.task, one.submission.phase) for one in rescored)
    for task, phase in sorted(keys, key=lambda key: (key[0], key[1] or "")):
        yield task, phase, [one for one in rescored if (one.submission.task, one.submission.phase) == (task, phase)]


def _ranks(members: Sequence[Rescored], rules: BoardRules, new: bool) -> dict[str, int | float]:
    """By submission; those that were scored with another gold than most cannot be ranked with them."""
    entries = [entry for one in members if (entry := one.after if new else one.before) is not None]
    if not entries or len({entry.signed("gold:") for entry in entries}) > 1:
        return {}
    table = tabulate([replace(entry, listed=entry.path) for entry in entries])
    keys = {name: sort_key(score) for name, score in zip(table.systems, exact_scores(table, rules), strict=True)}
    order = sorted(keys, key=lambda name: (keys[name], name))
    return dict(zip(order, number([keys[name] for name in order], rules.numbering), strict=True))


def _record(
    one: Rescored, rules: BoardRules, ranks: Sequence[dict[str, int | float]], changes: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    name, headline = one.submission.id, rules.headline
    before = one.before.card.measures[headline].f1
    after = one.after.card.measures[headline].f1 if one.after else None
    held: list[int] = next((c["holders"].get(name, []) for c in changes if name in c["holders"]), [])
    return {
        "id": name,
        "team": one.submission.team,
        "version": one.submission.version,
        "before": before,
        "after": after,
        "delta": None if before is None or after is None else after - before,
        "rank_before": ranks[0].get(name),
        "rank_after": ranks[1].get(name),
        "refused": one.answer.get("reason"),
        "notes": _notes(one, headline),
        "had": held,
    }


def _notes(one: Rescored, headline: str) -> list[dict[str, Any]]:
    """The notes whose counts of the headline measure differ."""
    if one.after is None:
        return []
    old, new = one.before.card.per_note, one.after.card.per_note
    pairs = ((note, old.get(note, {}).get(headline), new.get(note, {}).get(headline)) for note in {**old, **new})
    return [{"note": note, "before": then, "after": now} for note, then, now in pairs if then != now]
