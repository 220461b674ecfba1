"""The folder of a queue (embedded) or of a worker's local state (Synapse): where everything lies, and what it says."""

import os
import secrets
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.bundled_content import example_gold
from sandscore.base.byte_sources import opened
from sandscore.base.errors import InfrastructureFault, MissingFile, OrganiserFault
from sandscore.base.whole_files import write_file
from sandscore.challenges.challenge_reading import chosen_phase, own_tasks, read_challenge
from sandscore.queue.attempt_files import REHEARSAL
from sandscore.queue.queue_layout import (
    CHALLENGE,
    OWNER_FILE,
    PRIVATE,
    SALT,
    SETTINGS,
    edited_path,
    half,
    private_path,
    public_path,
    steady,
)
from sandscore.queue.settings import QueueSettings
from sandscore.records.challenge import Challenge
from sandscore.records.disclosure_policy import resolved
from sandscore.records.record_reading import read_record
from sandscore.task_table.task import TASKS, Task, find_task

SCRATCH = ".scratch-"
_LEAST_ROOM, _BYTES_A_CHARACTER = 32 << 20, 4
_ENDINGS = [f"{kind}{packing}" for kind in (".json", ".jsonl") for packing in ("", ".gz", ".zst")]


class Workspace(Struct, frozen=True):
    """Paths of everything but the home's own database."""

    root: Path
    given: Challenge
    settings: QueueSettings
    asked_engine: str | None = None
    """What a worker was told to run images with, whatever the challenge says."""
    follow: Callable[[], Challenge] | None = None
    """What is in force now, for whoever goes on while the file is edited."""

    @property
    def challenge(self) -> Challenge:
        return self.given if self.follow is None else self.follow()

    @property
    def engine(self) -> str | None:
        """What images are run with; None leaves it to the machine."""
        return self.asked_engine or self.challenge.images.engine

    def run_with(self, engine: str) -> "Workspace":
        """The same, its images run with an engine whatever the challenge says."""
        return replace(self, asked_engine=engine)

    @property
    def own_tasks(self) -> dict[str, Task]:
        """The tasks that the challenge defines."""
        return own_tasks(self.challenge)

    def task(self, name: str) -> Task:
        return find_task(name, self.own_tasks)

    @property
    def private(self) -> Path:
        """For whoever owns the queue; never served."""
        return half(self.root, PRIVATE)

    @property
    def challenge_file(self) -> Path:
        return edited_path(self.root, CHALLENGE)

    @property
    def salt(self) -> Path:
        return private_path(self.root, SALT)

    @property
    def files(self) -> Path:
        """Submitted prediction files, named by their SHA-256."""
        return private_path(self.root, "files")

    @property
    def cards(self) -> Path:
        """Published cards: note and patient ids replaced by keyed hashes."""
        return public_path(self.root, "cards")

    @property
    def boards(self) -> Path:
        return public_path(self.root, "boards")

    @property
    def site(self) -> Path:
        return public_path(self.root, "site")

    @property
    def pending(self) -> Path:
        """Lines for the ledger about what everybody can see, until the home has them."""
        return private_path(self.root, "disclosing.json")

    @property
    def gold_seen(self) -> Path:
        """A copy of every gold file that was ever scored with, so that a rescoring can say what changed."""
        return private_path(self.root, "gold-seen")

    @property
    def indexes(self) -> Path:
        """Gold and notes as they are once read, for all workers; whoever needs one that is not there makes it."""
        return private_path(self.root, "indexes")

    def counts(self, submission_id: str) -> Path:
        """A submission's counts note by note, for whoever scores it again; made whenever it is scored."""
        return private_path(self.root, "counts") / f"{submission_id}.counts"

    @property
    def attempts(self) -> Path:
        return private_path(self.root, "attempts")

    def attempt(self, submission_id: str, attempt: int, nonce: str) -> Path:
        """Of one claim alone: a restored database can make neither number nor folder come twice."""
        return self.attempts / submission_id / f"{attempt}-{nonce[:12]}"

    def data(self, phase: str | None) -> Path:
        chosen = self.settings.data.get(phase or "", self.settings.data.get(""))
        if chosen is None:
            raise OrganiserFault(
                f"{edited_path(self.root, SETTINGS)}: no folder of notes and gold for the phase '{phase}'"
            )
        return Path(chosen)

    def rehearsal(self, submission_id: str) -> Path:
        """Of the rehearsal that went well; once a submission, whatever becomes of its attempts."""
        return self.attempts / submission_id / REHEARSAL

    def notes_hidden(self, phase: str | None) -> bool:
        """Whether images must not tell what they read there."""
        return resolved(self.challenge, chosen_phase(self.challenge, phase)).notes_hidden

    def practice(self, phase: str | None) -> Path:
        """Notes a team may see everything about."""
        chosen = self.settings.practice.get(phase or "", self.settings.practice.get(""))
        return data_file(example_gold() if chosen is None else Path(chosen), "notes")

    def named_file(self, name: str) -> Path:
        """A file or folder that ``challenge.toml`` names, wherever that lay when the queue was made."""
        return Path(self.settings.files.get(name) or private_path(self.root, name))

    def notes(self, phase: str | None) -> Path:
        return data_file(self.data(phase), "notes")

    def gold(self, task: str, phase: str | None) -> Path:
        return data_file(self.data(phase), task)

    def most_bytes(self, phase: str | None, plain: int | None = None) -> int:
        """Of a submitted file, unpacked. For one of so few ``plain`` bytes that any notes allow them, none are read."""
        if self.settings.most_bytes is not None:
            return self.settings.most_bytes
        notes = self.notes(phase)
        seen = notes.stat()
        if plain is not None and plain <= _LEAST_ROOM:
            return _LEAST_ROOM
        return _LEAST_ROOM + _BYTES_A_CHARACTER * _characters(notes, seen.st_size, seen.st_mtime_ns)

    def dataset(self, phase: str | None) -> str:
        """What cards call the data of a phase, wherever that lies now."""
        key = phase if phase in self.settings.data else ""
        return self.settings.names.get(str(key)) or self.notes(phase).parent.name

    def tasks(self, phase: str | None) -> list[str]:
        """The tasks that have gold."""
        return [name for name in (*TASKS, *self.own_tasks) if find_data_file(self.data(phase), name) is not None]


@lru_cache(maxsize=8)
def _characters(notes: Path, _size: int, _changed: int) -> int:
    """Of all notes of a file as it was when it was looked at."""
    from sandscore.annotations.data_set import DataSet
    from sandscore.annotations.label_codes import LabelCodes
    from sandscore.annotations.note_loader import NotesLoader
    from sandscore.annotations.note_texts import GatheredTexts
    from sandscore.annotations.problem_collector import ProblemCollector

    dataset = DataSet(LabelCodes(None), whole_names=True)
    with opened(notes) as source:
        texts = GatheredTexts(len(source.data))
        NotesLoader(dataset, ProblemCollector(str(notes)), texts).load(memoryview(source.data))
    return dataset.texts.characters if dataset.texts is not None else 0


def open_workspace(root: Path) -> Workspace:
    """The folder as ``queue init`` left it, with whatever the organiser has changed since."""
    with steady(root):
        return _opened(root)


def asked_workspace(root: Path, challenge: str | None) -> Workspace:
    """The folder under a challenge that another process has read, whatever the file says now."""
    if challenge is None:
        return open_workspace(root)
    with steady(root):
        return Workspace(root.resolve(), Challenge.model_validate_json(challenge), _settings(root))


def said_challenge(challenge: Challenge) -> str:
    """For another process: what was written, and nothing that follows from it."""
    return challenge.model_dump_json(exclude_unset=True)


def _opened(root: Path) -> Workspace:
    settings = _settings(root)
    return Workspace(root.resolve(), read_challenge(edited_path(root, CHALLENGE)), settings)


def _settings(root: Path) -> QueueSettings:
    path = edited_path(root, SETTINGS)
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise MissingFile(f"{root} is not the folder of a queue; sandscore queue init makes one") from None
    except OSError as fault:
        raise InfrastructureFault(f"{path} cannot be read: {fault.strerror}") from None
    return read_record(QueueSettings, content, path, "the settings of a queue", OrganiserFault)


def find_data_file(folder: Path, name: str) -> Path | None:
    """``name`` with one of the endings that notes and annotations come in."""
    return next((path for ending in _ENDINGS if (path := folder / f"{name}{ending}").is_file()), None)


def data_file(folder: Path, name: str) -> Path:
    found = find_data_file(folder, name)
    if found is None:
        raise OrganiserFault(f"there is no {name}.json (or .jsonl, .gz, .zst) in {folder}")
    return found


def read_salt(path: Path) -> bytes:
    """The challenge's secret salt."""
    try:
        salt = path.read_bytes().strip()
    except OSError as fault:
        raise OrganiserFault(f"{path} cannot be read: {fault.strerror}; without it no card can be published") from None
    if not salt:
        raise OrganiserFault(f"{path} is empty; without a salt no card can be published")
    return salt


def make_salt(path: Path) -> None:
    """Once; readable by the organiser alone."""
    given = os.environ.get("SANDSCORE_SALT", "") or secrets.token_hex(32)
    write_file(path, given.encode("utf-8", "surrogateescape"), sync=True, mode=OWNER_FILE, replace=False)
