"""A challenge small enough to be scored in no time, and queues of it."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sandscore.queue.homes.sqlite.sqlite_admin import submit
from sandscore.queue.homes.sqlite.sqlite_database import FILE, Database, create
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
from sandscore.queue.new_submission import NewSubmission
from sandscore.queue.queue_setup import found
from sandscore.queue.settings import chosen_settings
from sandscore.queue.workspace import Workspace

_Done = TypeVar("_Done")
TEXTS = {"n1": "Seen on 10/26/2020 and 10/27/2020.", "n2": "Discharged 01/02/2021.", "n3": "No date here."}
GOLD = {"n1": [(8, "10/26/2020"), (23, "10/27/2020")], "n2": [(11, "01/02/2021")], "n3": []}
RIGHT = GOLD
HALF = {"n1": [(8, "10/26/2020")], "n2": [(11, "01/02/2021")], "n3": []}
"""2 of 3 gold annotations and no false positive: precision 1, recall 2/3, F1 4/5, by hand."""
WRONG_PLACE = {"n1": [(9, "10/26/2020")], "n2": [], "n3": []}
"""One character too far to the right: the text does not stand there."""
OPEN = 'data = {notes = "public", gold = "public"}\n'
"""Everybody may see everything of the data."""
HIDDEN = 'challenge = "siege"\nresamples = 100\nrandomisations = 99\ndata = {notes = "hidden", gold = "hidden"}\n'
CHALLENGE = f'challenge = "siege"\nresamples = 100\nrandomisations = 99\n{OPEN}'

Spans = dict[str, list[tuple[int, str]]]


def annotations(spans: Spans) -> bytes:
    """The many-notes form."""
    entries = [
        {
            "annotationSource": {"resourceSource": {"name": note}},
            "textDateAnnotations": [{"start": start, "length": len(text), "text": text} for start, text in of],
        }
        for note, of in spans.items()
    ]
    return json.dumps(entries).encode()


def challenge_folder(folder: Path, configuration: str = CHALLENGE) -> Path:
    """challenge.toml with notes and gold beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    notes = [{"identifier": name, "text": text, "patientId": name} for name, text in TEXTS.items()]
    (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (folder / "date.json").write_bytes(annotations(GOLD))
    (folder / "challenge.toml").write_text(configuration, encoding="utf-8")
    return folder / "challenge.toml"


def queue(root: Path, configuration: str = CHALLENGE, **settings: Any) -> Workspace:
    """An empty queue in ``root/queue``; waits are short."""
    challenge = challenge_folder(root / "challenge", configuration)
    chosen = {"lease_seconds": 5.0, "first_wait_seconds": 0.05} | settings
    return found(root / "queue", challenge, chosen_settings({"": str(challenge.parent)}, chosen), create)


def hand_in(workspace: Workspace, spans: Spans | bytes = RIGHT, team: str = "Team A", **entry: Any) -> str:
    """Submit a prediction file; its id."""
    content = spans if isinstance(spans, bytes) else annotations(spans)
    given = workspace.root.parent / "handed-in.json"
    given.write_bytes(content)
    if "image" not in entry:
        entry["predictions"] = given
    with opened(workspace) as database:
        return submit(database, SubmissionJournal(workspace.root), workspace, NewSubmission("date", team, **entry))


def as_older_versions(root: Path) -> Path:
    """The folder of a queue as versions before the two halves left it: all at the root, with the rights of the day."""
    for which in ("private", "public"):
        for path in [*(root / which).iterdir()]:
            (root / path.name).unlink(missing_ok=True)
            path.rename(root / path.name)
        (root / which).rmdir()
    for stamp in root.glob(".*.stamp"):
        stamp.rename(root / "boards" / stamp.name)
    for path in [path for path in root.iterdir() if path.is_symlink()]:
        path.unlink()
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    root.chmod(0o700)
    if (root / FILE).exists():
        with closing(sqlite3.connect(root / FILE)) as connection:
            connection.execute("PRAGMA user_version=1")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return root


@contextmanager
def opened(workspace: Workspace) -> Iterator[Database]:
    database = Database(workspace.root)
    try:
        yield database
    finally:
        database.close()


def with_home(workspace: Workspace, work: Callable[[EmbeddedHome], Awaitable[_Done]]) -> _Done:
    """Open the queue as a worker does, do something with it, close it."""

    async def done() -> _Done:
        home = EmbeddedHome(workspace)
        await home.open()
        try:
            return await work(home)
        finally:
            await home.close()

    return asyncio.run(done())
