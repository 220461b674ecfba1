"""The archive of a queue's challenge, to be deposited: what everybody may have of it, and nothing else.

Boards, cards and the log come as they were released; the rest is said anew from what is public of a challenge.
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from sandscore import __version__
from sandscore.attestation.evidence_files import CRATE_METADATA
from sandscore.attestation.research_crate import (
    BOARDS,
    CARDS,
    LOG,
    CrateFacts,
    CrateFile,
    metadata_of,
)
from sandscore.base.clock import utc_now, written
from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import part_of, told
from sandscore.queue.board_making import versions
from sandscore.queue.order_history import read_orders
from sandscore.queue.public_log import PublicLog
from sandscore.queue.queue_layout import LOG as LOG_FOLDER
from sandscore.queue.queue_layout import public_path
from sandscore.queue.workspace import Workspace
from sandscore.records.challenge import Challenge

CHALLENGE, HISTORY = "challenge.json", "history.json"
_TOLD_ORDERS = ("rescore", "upgrade", "rekey")
"""Orders that changed what boards say; who gave them is nobody else's matter."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644 << 16
_SAID = {BOARDS: "A leaderboard", CARDS: "A score card, as it may be published", LOG: "The challenge's public log"}


def archive_queue(workspace: Workspace, target: Path) -> int:
    """Write the archive; it is there whole or not at all. How many files it has."""
    with PublicLog(workspace).resting(), told(target):
        contents = dict(_contents(workspace))
        if not any(name.startswith(f"{BOARDS}/") for name in contents):
            raise UsageFault(f"{workspace.root} has no board yet that could be archived")
        files = [
            CrateFile(name, _description(name), hashlib.sha256(content).hexdigest(), len(content))
            for name, content in contents.items()
        ]
        target.parent.mkdir(parents=True, exist_ok=True)
        with part_of(target) as part:
            with zipfile.ZipFile(part, "x", zipfile.ZIP_DEFLATED) as archive:
                for name, content in [(CRATE_METADATA, metadata_of(_facts(workspace), files)), *contents.items()]:
                    entry = zipfile.ZipInfo(name, _EARLIEST)
                    entry.external_attr, entry.compress_type = _MODE, zipfile.ZIP_DEFLATED
                    archive.writestr(entry, content)
            with part.open("rb") as file:
                os.fsync(file.fileno())
    return len(contents) + 1


def _contents(workspace: Workspace) -> Iterator[tuple[str, bytes]]:
    places = {BOARDS: workspace.boards, CARDS: workspace.cards, LOG: public_path(workspace.root, LOG_FOLDER)}
    for name, folder in places.items():
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
                    yield f"{name}/{path.name}", path.read_bytes()
    yield CHALLENGE, _json(_challenge(workspace.challenge))
    yield HISTORY, _json(_history(workspace))


def _challenge(challenge: Challenge) -> dict[str, object]:
    """What boards and pages say of it anyway, in one place."""
    phases = [
        {"name": phase.name, "ended": phase.ended, "feedback": phase.feedback or challenge.feedback}
        | {key: written(at) for key, at in (("opens", phase.opens), ("closes", phase.closes)) if at is not None}
        for phase in challenge.phases
    ]
    return {"challenge": challenge.challenge, "title": challenge.title, "phases": phases}


def _history(workspace: Workspace) -> dict[str, object]:
    boards = []
    for path in versions(workspace):
        board = json.loads(path.read_bytes())
        known = {key: board.get(key) for key in ("task", "phase", "sandscore", "gold")}
        boards.append({"file": f"{BOARDS}/{path.name}"} | known | {"rows": len(board["rows"])})
    orders = [order for order in read_orders(workspace.root) if order.what in _TOLD_ORDERS]
    return {"boards": boards, "orders": [{"what": order.what, "day": order.when[:10]} for order in orders]}


def _facts(workspace: Workspace) -> CrateFacts:
    challenge, publication = workspace.challenge, workspace.challenge.publication
    name = challenge.title or challenge.challenge
    dates = [
        {"name": phase.name}
        | {key: written(at) for key, at in (("opens", phase.opens), ("closes", phase.closes)) if at is not None}
        for phase in challenge.phases
    ]
    return CrateFacts(
        name=name,
        description=f"Leaderboards, score cards and public log of {name}; sandscore verify checks them.",
        date=written(utc_now())[:10],
        version=__version__,
        phases=dates,
        license=publication.license,
        citation=publication.citation,
        url=publication.url,
    )


def _description(name: str) -> str:
    alone = {CHALLENGE: "The challenge and its phases", HISTORY: "The boards and what changed them"}
    return alone.get(name) or _SAID[name.partition("/")[0]]


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"
