"""The parts of an open Synapse queue, put together."""

import hashlib
import uuid
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from sandscore.base.clock import utc_now
from sandscore.base.diagnostics import warn
from sandscore.base.errors import OrganiserFault
from sandscore.disclosure.policy_choice import policy_for
from sandscore.queue.homes.synapse.board_table import BoardTable
from sandscore.queue.homes.synapse.board_wiki import BoardPublisher, BoardWiki
from sandscore.queue.homes.synapse.status_record import Record
from sandscore.queue.homes.synapse.synapse_admin import SynapseAdmin
from sandscore.queue.homes.synapse.synapse_claims import SynapseClaims, SynapseLeases
from sandscore.queue.homes.synapse.synapse_errors import Refused
from sandscore.queue.homes.synapse.synapse_files import SynapseFiles
from sandscore.queue.homes.synapse.synapse_folders import Logs, SharedCards, SynapseFolders
from sandscore.queue.homes.synapse.synapse_listing import Listing, WaitingList, submitted_work
from sandscore.queue.homes.synapse.synapse_notices import Mailbox, Notifier
from sandscore.queue.homes.synapse.synapse_options import SynapseOptions
from sandscore.queue.homes.synapse.synapse_outbox import outbox_of
from sandscore.queue.homes.synapse.synapse_preflight import missing_rights
from sandscore.queue.homes.synapse.synapse_quota import kept_by_rounds, limits_of, quota_words, read_rounds
from sandscore.queue.homes.synapse.synapse_routes import routes
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.homes.synapse.synapse_statuses import Statuses
from sandscore.queue.homes.synapse.synapse_submissions import AttemptPlaces, Reader, Results, TeamNames
from sandscore.queue.new_submission import quota_of
from sandscore.queue.notices import NoticeLedger
from sandscore.queue.queue_layout import private_path
from sandscore.queue.workspace import Workspace

RESULTS = "results"
NEEDED = "READ, READ_PRIVATE_SUBMISSION and UPDATE_SUBMISSION"


class SynapseParts(Struct, frozen=True):
    listing: Listing
    waiting: WaitingList
    reader: Reader
    claims: SynapseClaims
    orders: SynapseAdmin
    files: SynapseFiles
    logs: Logs
    results: Results
    places: AttemptPlaces
    shared: SharedCards | None
    mailbox: Mailbox
    notifier: Notifier
    board: BoardPublisher | None
    mine: set[str]
    """Submissions that this process has claimed."""
    keeps_quota: bool
    """Whether it is for workers to refuse what comes beyond the quota."""


async def assemble(session: Session, evaluation_id: str, workspace: Workspace, options: SynapseOptions) -> SynapseParts:
    """Ask for the queue and make everything that works on it."""
    session.refusal = partial(missing_rights, session, evaluation_id)
    queue = await read_queue(session, evaluation_id)
    chosen = routes(workspace, options, queue.get("name"))
    project = queue.get("contentSource")
    settings = workspace.settings
    statuses, leases, own = Statuses(session), SynapseLeases(), state_name(workspace.root)
    mailbox = Mailbox(session, outbox_of(workspace.root), statuses)
    mine: set[str] = set()
    results, places = Results(private_path(workspace.root, RESULTS)), AttemptPlaces(workspace)
    listing = Listing(session, evaluation_id)
    log_root = options.logs or project
    folders = SynapseFolders(session, log_root) if log_root else None
    board_root = (options.board or project) if options.publish else None
    wiki = BoardWiki(session, board_root) if board_root and options.wiki else None
    organisers = options.organisers or tuple(str(queue[key]) for key in ("ownerId",) if queue.get(key))
    return SynapseParts(
        listing,
        WaitingList(listing, leases, options.poll_seconds),
        Reader(TeamNames(session), chosen, results, places),
        SynapseClaims(
            statuses,
            listing.running,
            leases,
            settings,
            annotate_scores=options.annotate_scores,
            by=own,
        ),
        SynapseAdmin(statuses, annotate_scores=options.annotate_scores),
        SynapseFiles(session, chosen),
        Logs(
            session,
            folders if options.send_logs else None,
            lambda one: policy_for(workspace.challenge, one.task, one.phase),
        ),
        results,
        places,
        SharedCards(session, folders) if folders is not None and options.share_cards else None,
        mailbox,
        Notifier(
            statuses,
            mailbox if options.send_messages else None,
            settings.notices,
            NoticeLedger(workspace.root),
            organisers,
            own,
            lambda key: Record(by=own) if key in mine else places.record(key),
            begun=options.begun_messages,
        ),
        BoardPublisher(evaluation_id, BoardTable(session, board_root), wiki) if board_root else None,
        mine,
        await keeps_quota(session, evaluation_id, workspace, chosen.phase, options),
    )


async def keeps_quota(
    session: Session, evaluation_id: str, workspace: Workspace, phase: str | None, options: SynapseOptions
) -> bool:
    """Workers do, unless the queue's rounds have the quota as it is in the challenge now."""
    quota, _ = quota_of(workspace.challenge, phase)
    if options.quota == "claim" or not limits_of(quota):
        return True
    if kept_by_rounds(await read_rounds(session, evaluation_id), quota, utc_now()):
        return False
    warn(
        f"the rounds of queue {evaluation_id} do not have the quota of challenge.toml ({quota_words(quota)}); "
        "workers enforce it, queue init --write-quota writes it"
    )
    return True


def state_name(root: Path) -> str:
    """Tells this folder on this machine from those of other workers."""
    return hashlib.sha256(f"{uuid.getnode()} {root}".encode()).hexdigest()[:8]


async def read_queue(session: Session, evaluation_id: str) -> dict[str, Any]:
    """What Synapse says of the queue; whether we may work on it shows in a list of its submissions."""
    from synapseclient.api import get_evaluation

    client, what = session.client, f"reading queue {evaluation_id}"
    found: dict[str, Any] = {}
    try:
        await session.call(what, client.rest_get_async(f"/evaluation/{evaluation_id}/submission/bundle/all?limit=1"))
        found = await session.call(what, get_evaluation(evaluation_id=evaluation_id, synapse_client=client))
    except Refused as fault:
        if fault.status in (400, 401, 403):
            raise OrganiserFault(
                f"Synapse has no evaluation queue {evaluation_id} that this token may work on "
                f"(it answers {fault.status}); the account needs {NEEDED} on it"
            ) from None
        if fault.status != 404:
            raise
    return found


async def belongs(session: Session, submission_id: str, evaluation_id: str) -> bool:
    """Whether there is such a submission in this queue."""
    reading = session.client.rest_get_async(f"/evaluation/submission/{submission_id}")
    try:
        found = submitted_work(await session.call(f"reading submission {submission_id}", reading))
    except Refused as fault:
        if fault.status in (400, 403, 404):
            return False
        raise
    return str(found.evaluation_id) == evaluation_id
