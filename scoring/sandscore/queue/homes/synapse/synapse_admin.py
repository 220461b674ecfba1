"""Changes of a status by organisers and by the writer of the board."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sandscore.disclosure.released import CALLED_BACK
from sandscore.queue.homes.synapse import status_record
from sandscore.queue.homes.synapse.status_record import Record
from sandscore.queue.homes.synapse.synapse_claims import HELD, ended
from sandscore.queue.homes.synapse.synapse_ledger import KEY, noted
from sandscore.queue.homes.synapse.synapse_statuses import Change, Seen, Statuses
from sandscore.records.released_view import LedgerLine, Released, lines_of, view_of
from sandscore.records.submission import Status, Verdict, Version

_KEPT = ("reason", "finished")
"""What a version that is added later says nothing new about."""


Shown = dict[str, list[float] | list[str] | None]


class SynapseAdmin:
    """Each is one change of the status, safe to be given again."""

    def __init__(self, statuses: Statuses, *, annotate_scores: bool) -> None:
        self._statuses, self._annotate_scores = statuses, annotate_scores

    async def cancel(self, submission_id: str) -> bool:
        def edit(now: Seen) -> Change | None:
            if now.status is None or now.status.final:
                return None
            if now.status is Status.RECEIVED:
                return ended(now, Verdict(Status.REJECTED, CALLED_BACK))
            return Change(now.record, can_cancel=True, cancel=True)

        return await self._statuses.change(submission_id, edit)

    async def requeue(self, submission_id: str) -> bool:
        def edit(now: Seen) -> Change | None:
            if now.status in HELD:
                return None
            kept = now.record
            fresh = Record(
                attempt=kept.attempt, version=kept.version, rehearsed=kept.rehearsed, told=kept.told, pardoned=True
            )
            gone = status_record.without_scores(now.annotations)
            return Change(fresh, Status.RECEIVED, can_cancel=False, cancel=False, annotations=gone)

        return await self._statuses.change(submission_id, edit)

    async def add_version(self, submission_id: str, version: Version) -> bool:
        shown = self._shown(view_of(version.feedback)) | {"signature": status_record.text(version.signature)}

        def edit(now: Seen) -> Change | None:
            if now.record.version != version.number - 1:
                return None
            record = replace(now.record, version=version.number, fed=version.feedback is not None)
            gone = {name: None for name in status_record.without_scores(now.annotations) if name not in _KEPT}
            return Change(record, annotations=gone | shown | noted(now.annotations, lines_of([version.feedback])))

        return await self._statuses.change(submission_id, edit)

    async def publish_feedback(self, submission_id: str, feedback: Released[Mapping[str, object]]) -> None:
        shown = self._shown(feedback.view)

        def edit(now: Seen) -> Change | None:
            same = all(now.annotations.get(name) == value for name, value in shown.items())
            said = noted(now.annotations, [feedback.line])
            if now.record.fed and same and said.get(KEY) == now.annotations.get(KEY):
                return None
            return Change(replace(now.record, fed=True), annotations=shown | said)

        await self._statuses.change(submission_id, edit)

    async def disclose(self, submission_id: str, lines: Sequence[LedgerLine]) -> None:
        def edit(now: Seen) -> Change | None:
            said = noted(now.annotations, lines)
            return None if said.get(KEY) == now.annotations.get(KEY) else Change(now.record, annotations=said)

        await self._statuses.change(submission_id, edit)

    def _shown(self, feedback: Mapping[str, object] | None) -> Shown:
        return dict(status_record.with_marks(status_record.scores(feedback or {}))) if self._annotate_scores else {}
