"""The embedded home's row: a queue in a folder of this machine."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sandscore.queue.homes.home_row import Chosen, HomeRow

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome, SubmissionDoor
    from sandscore.queue.new_submission import NewSubmission
    from sandscore.queue.queue_setup import NewQueue, QueueMade
    from sandscore.queue.queue_status import AttemptFacts
    from sandscore.queue.workspace import Workspace


class SqliteRow(HomeRow):
    """A folder with an SQLite file and a journal; nothing to install, and any number of workers of one machine."""

    name: ClassVar[str] = "sqlite"
    description: ClassVar[str] = "a folder of this machine, with an SQLite file and a journal"
    source: ClassVar[str] = "docs/organisers.md"
    backs_up: ClassVar[str] = "queue.sqlite"
    where: ClassVar[str] = "in a folder of this machine"
    making: ClassVar[str] = """\
In a queue whose queue.sqlite is lost it makes a new one, which takes up every submission from the journal.
DIR/private holds queue.sqlite, a copy of challenge.toml, settings.json (notices, leases, limits: edit it) and
the secret salt of the challenge (taken from SANDSCORE_SALT where that is set); only DIR/public is to be served.
The folder of a queue that an older version made is given these two."""
    own_files: ClassVar[tuple[str, ...]] = ("queue.sqlite", "journal.jsonl")

    def init(self, new: "NewQueue") -> "QueueMade":
        from sandscore.queue.homes.sqlite.sqlite_database import FILE, create
        from sandscore.queue.layout_move import MOVED, update_layout
        from sandscore.queue.queue_layout import PRIVATE, SETTINGS, edited_path, half, private_path
        from sandscore.queue.queue_setup import QueueMade, found

        folder = Path(new.folder or "")
        moved, known = update_layout(folder, self), edited_path(folder, SETTINGS).exists()
        if known and not private_path(folder, FILE).exists():
            create(half(folder, PRIVATE))
            anew = f"{FILE} was gone and is made anew; what the journal holds will be evaluated again"
            return QueueMade(folder, None, mended=anew)
        if known and moved:
            return QueueMade(folder, None, mended=MOVED)
        return QueueMade(folder, found(folder, new.challenge, new.settings, create))

    def resting(self, root: Path) -> AbstractContextManager[bool]:
        from sandscore.queue.homes.sqlite.sqlite_database import at_rest

        return at_rest(root)

    def open(self, workspace: "Workspace", chosen: Chosen) -> "QueueHome":
        from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome

        return EmbeddedHome(workspace)

    def submit(self, workspace: "Workspace", handed_in: "NewSubmission") -> str:
        from sandscore.queue.homes.sqlite.sqlite_admin import submit
        from sandscore.queue.homes.sqlite.sqlite_database import opened_database
        from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal

        with opened_database(workspace.root) as database:
            return submit(database, SubmissionJournal(workspace.root), workspace, handed_in)

    def door(self, workspace: "Workspace") -> "SubmissionDoor":
        from sandscore.queue.homes.sqlite.sqlite_door import SqliteDoor

        return SqliteDoor(workspace)

    def back_up(self, workspace: "Workspace", target: Path) -> None:
        from sandscore.queue.homes.sqlite.sqlite_database import back_up

        back_up(workspace.root, target)

    def history(self, workspace: "Workspace", submission_id: str) -> dict[str, object]:
        from msgspec import to_builtins

        from sandscore.queue.homes.sqlite.sqlite_admin import SqliteAdmin
        from sandscore.queue.homes.sqlite.sqlite_database import opened_database
        from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal

        with opened_database(workspace.root) as database:
            admin = SqliteAdmin(database, SubmissionJournal(workspace.root))
            found = {"attempts": admin.attempts(submission_id), "versions": admin.versions(submission_id)}
            return {name: to_builtins(rows) for name, rows in found.items()}

    def attempt_facts(self, workspace: "Workspace") -> "AttemptFacts":
        from sandscore.queue.homes.sqlite.sqlite_database import opened_database
        from sandscore.queue.queue_status import AttemptFacts

        with opened_database(workspace.root) as database, database.reading() as connection:
            rows = connection.execute(
                "SELECT outcome, count(*), total(seconds) FROM attempt GROUP BY outcome"
            ).fetchall()
        ended = {str(outcome): count for outcome, count, _ in rows if outcome is not None}
        return AttemptFacts(ended, sum(seconds for _, _, seconds in rows))

    def faults(self, workspace: "Workspace") -> list[str]:
        from sandscore.base.errors import SandscoreError
        from sandscore.queue.homes.sqlite.sqlite_database import opened_database

        try:
            with opened_database(workspace.root) as database:
                database.check()
                database.check_journal()
                with database.writing():
                    pass  # whoever writes reads what the journal alone knows
        except SandscoreError as fault:
            return [str(fault)]
        return []

    def accept_damage(self, workspace: "Workspace") -> list[str]:
        from sandscore.queue.homes.sqlite.sqlite_database import opened_database

        with opened_database(workspace.root) as database:
            report = database.accept_damage()
        if report is None:
            return []
        lines = [f"the damaged journal is kept as {report.kept}", *map(str, report.faults)]
        return [*lines, *(f"submission {one} is missing; ask its team to hand it in again" for one in report.missing)]
