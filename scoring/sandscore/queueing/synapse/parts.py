"""The parts of an open Synapse queue, put together."""

from dataclasses import dataclass
from typing import Any

from sandscore.queueing.notifying.ledger import Ledger
from sandscore.queueing.synapse.board import BoardPublisher
from sandscore.queueing.synapse.bundles import Reader
from sandscore.queueing.synapse.claims import Claims
from sandscore.queueing.synapse.faults import Refused
from sandscore.queueing.synapse.files import Files
from sandscore.queueing.synapse.folders import Folders
from sandscore.queueing.synapse.leases import Leases
from sandscore.queueing.synapse.listing import Listing
from sandscore.queueing.synapse.logs import Logs
from sandscore.queueing.synapse.mail import Mailbox
from sandscore.queueing.synapse.names import Names
from sandscore.queueing.synapse.notices import Notifier
from sandscore.queueing.synapse.options import SynapseOptions
from sandscore.queueing.synapse.orders import Orders
from sandscore.queueing.synapse.places import Places
from sandscore.queueing.synapse.results import Results
from sandscore.queueing.synapse.routes import routes
from sandscore.queueing.synapse.session import Session
from sandscore.queueing.synapse.sharing import SharedCards
from sandscore.queueing.synapse.statuses import Statuses
from sandscore.queueing.synapse.table import BoardTable
from sandscore.queueing.synapse.waiting import WaitingList
from sandscore.queueing.synapse.wiki import BoardWiki
from sandscore.queueing.workspace import Workspace
from sandscore.records.errors import OrganiserFault

RESULTS = "results"
NEEDED = "READ, READ_PRIVATE_SUBMISSION and UPDATE_SUBMISSION"


@dataclass(frozen=True, slots=True)
class Parts:
    listing: Listing
    waiting: WaitingList
    reader: Reader
    claims: Claims
    orders: Orders
    files: Files
    logs: Logs
    results: Results
    places: Places
    shared: SharedCards | None
    mailbox: Mailbox
    notifier: Notifier
    board: BoardPublisher | None


async def assemble(session: Session, evaluation_id: str, workspace: Workspace, options: SynapseOptions) -> Parts:
    """Ask for the queue and make everything that works on it."""
    queue = await read_queue(session, evaluation_id)
    chosen = routes(workspace, options, queue.get("name"))
    project = queue.get("contentSource")
    settings = workspace.settings
    statuses, leases, mailbox = Statuses(session), Leases(), Mailbox(session)
    results, places = Results(workspace.root / RESULTS), Places(workspace)
    listing = Listing(session, evaluation_id)
    log_root = options.logs or project
    folders = Folders(session, log_root) if log_root else None
    board_root = (options.board or project) if options.publish else None
    wiki = BoardWiki(session, board_root) if board_root and options.wiki else None
    organisers = options.organisers or tuple(str(queue[key]) for key in ("ownerId",) if queue.get(key))
    return Parts(
        listing,
        WaitingList(listing, leases, options.poll_seconds),
        Reader(Names(session), chosen, results, places),
        Claims(statuses, leases, settings, annotate_scores=options.annotate_scores),
        Orders(statuses, annotate_scores=options.annotate_scores),
        Files(session, chosen),
        Logs(session, folders if options.send_logs else None),
        results,
        places,
        SharedCards(session, folders) if folders is not None and options.share_cards else None,
        mailbox,
        Notifier(
            statuses,
            mailbox if options.send_messages else None,
            settings.notices,
            Ledger(workspace.root),
            organisers,
        ),
        BoardPublisher(evaluation_id, BoardTable(session, board_root), wiki) if board_root else None,
    )


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
    from synapseclient.models import Submission

    reading = Submission(id=submission_id).get_async(synapse_client=session.client)
    try:
        found = await session.call(f"reading submission {submission_id}", reading)
    except Refused as fault:
        if fault.status in (400, 403, 404):
            return False
        raise
    return str(found.evaluation_id) == evaluation_id
