"""The public log of a queue: lines in the order in which they came, kept in private and published under a signature.

What is to be in the log follows from the queue's own journal, gold and boards, and every line can be made again from
them; so whoever is killed leaves a log that the next takes up. A round of the publisher adds what is missing, then
copies new lines to ``public/log`` and signs a checkpoint over them. Nothing is ever changed or taken away.
"""

import fcntl
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct, field

from sandscore.attestation.log_lines import (
    CHALLENGE,
    NOTES,
    PRACTICE,
    BoardLine,
    CommitmentLine,
    DataLine,
    DataOpening,
    GoldLine,
    HandedIn,
    KeyLine,
    LogLine,
    Opening,
    Receipt,
    SubmissionLine,
    SubmissionOpening,
    board_content,
    data_salt,
    decoded,
    encoded,
    gold_name,
    salted,
    submission_line,
    submission_salt,
)
from sandscore.attestation.log_reading import CHECKPOINT, ENTRIES, OPENINGS, approving, read_log
from sandscore.attestation.merkle_tree import RightEdge, leaf_hash
from sandscore.attestation.signed_note import Checkpoint, read_checkpoint, read_note, sign_note
from sandscore.attestation.signing_keys import SignerKey, base64_text, new_key, read_key
from sandscore.base.diagnostics import warn
from sandscore.base.errors import OrganiserFault, SandscoreError
from sandscore.base.whole_files import part_of, told, write_file
from sandscore.challenges.challenge_reading import chosen_phase
from sandscore.queue.queue_layout import (
    ALL_FILE,
    ALL_FOLDER,
    LOG,
    LOGBOOK,
    OWNER_FILE,
    OWNER_FOLDER,
    private_path,
    public_path,
)
from sandscore.queue.shared_data import content_sha256
from sandscore.queue.workspace import Workspace, find_data_file, read_salt
from sandscore.records.disclosure_policy import resolved
from sandscore.records.submission import Submission
from sandscore.site.site_folder import file_name

_KEY, _NEXT_KEY, _LOCK, _EDGE, _RECEIPTS = "key", "key.next", ".lock", "edge.json", "receipts"
Group = tuple[str, str | None]
"""A task and a phase."""


def handed_in(one: Submission) -> HandedIn:
    """As the log knows a submission."""
    return HandedIn(one.id, one.task, one.phase, one.image or one.content or "")


class _Edge(Struct, frozen=True):
    """How much has been signed: bytes, lines, and what the tree over them needs to grow."""

    bytes: int = 0
    size: int = 0
    roots: tuple[str, ...] = ()
    key: str | None = None


class _Known(Struct):
    """What the lines say that have been read so far."""

    bytes: int = 0
    size: int = 0
    key: str | None = None
    phases: set[str | None] = field(default_factory=set)
    gold: dict[Group, str] = field(default_factory=dict)
    submissions: dict[str, int] = field(default_factory=dict)
    boards: dict[Group, str] = field(default_factory=dict)
    scored: dict[Group, frozenset[int]] = field(default_factory=dict)
    data: dict[tuple[str | None, str], tuple[int, str]] = field(default_factory=dict)

    def learn(self, line: LogLine) -> None:
        if isinstance(line, KeyLine):
            self.key = line.key
        elif isinstance(line, CommitmentLine):
            self.phases.add(line.phase)
            self.gold |= {(task, line.phase): shown for task, shown in line.gold.items()}
            self.data |= {(line.phase, name): (self.size, hashed) for name, hashed in line.hashes.items()}
        elif isinstance(line, GoldLine):
            self.gold[line.task, line.phase] = line.gold
            self.data[line.phase, gold_name(line.task)] = (self.size, line.sha256)
        elif isinstance(line, DataLine):
            self.data[line.phase, line.name] = (self.size, line.sha256)
        elif isinstance(line, SubmissionLine):
            self.submissions[line.sha256] = self.size
        else:
            group = (line.task, line.phase)
            self.boards[group] = line.content
            self.scored[group] = (self.scored.get(group, frozenset()) | {*line.scored}) - {*line.withdrawn}
        self.size += 1


class PublicLog:
    """One queue's. Whatever it writes it writes alone."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folder = private_path(workspace.root, LOGBOOK)
        self._entries = self._folder / ENTRIES
        self._known = _Known()
        self._salt = b""

    @property
    def begun(self) -> bool:
        return self._entries.exists()

    def begin(self) -> None:
        """A key, and what the phases are about whose notes and gold are there: salted hashes, before anybody hands in
        anything. Of those that have begun, what has changed since but gold, which counts once it is scored with."""
        with self._alone(), told(self._folder):
            if self._known.key is None:
                self._append([KeyLine(self._key().public.text)])
            challenge = self._workspace.challenge
            phases: list[str | None] = [phase.name for phase in challenge.phases] or [None]
            for phase in phases:
                if phase in self._known.phases:
                    if changes := [*self._changes(phase)]:
                        self._append(changes)
                elif self._workspace.tasks(phase):
                    self._append([self._commitment(phase)])

    def check(self) -> None:
        """Raise where its key, or a line that was signed, is not as it was."""
        if self.begun:
            with self._alone():
                self._key()
            if (self._public / CHECKPOINT).exists():
                read_log(self._public)

    def accept(self, given: HandedIn) -> Receipt | None:
        """The receipt of what was handed in, its line added unless it is there.

        None where the log has not begun, or cannot be written: what was handed in is in the queue, and the next round
        of the publisher adds what is missing.
        """
        if not self.begun:
            return None
        with suppress(SandscoreError):
            return self._accept_quickly(given)
        warn(f"{given.submission} is not in the public log yet; the next queue work puts it there")
        return None

    def _accept_quickly(self, given: HandedIn) -> Receipt:
        """What has been signed need not be read to add a line: only what follows is looked through."""
        line = submission_line(self._secret, given)
        written = encoded(line) + b"\n"
        with self._locked(), told(self._folder), self._entries.open("r+b") as file:
            edge = self._edge()
            name = edge.key or _first_key(file.readline())
            file.seek(edge.bytes)
            tail = file.read()
            tail = tail[: tail.rfind(b"\n") + 1]
            at = tail.find(written)
            if at < 0:
                if (receipt := self.receipt(given.submission)) is not None:
                    return receipt
                at = len(tail)
                _put(file, written, edge.bytes + at)
            return self._keep(given, line, edge.size + tail.count(b"\n", 0, at), name)

    def receipt(self, submission: str) -> Receipt | None:
        """The receipt that was written for a submission."""
        try:
            return msgspec.json.decode((self._folder / _RECEIPTS / _named(submission)).read_bytes(), type=Receipt)
        except (OSError, msgspec.MsgspecError):
            return None

    def has_receipt(self, submission: str) -> bool:
        return (self._folder / _RECEIPTS / _named(submission)).exists()

    @property
    def receipts_changed(self) -> int:
        """When one was last written, in nanoseconds of the file system's clock; 0 before the first."""
        try:
            return (self._folder / _RECEIPTS).stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def follow(self, handed_in: Iterable[HandedIn]) -> dict[str, int]:
        """Lines for all that have none, in this order; the position of each, by submission."""
        with self._alone(), told(self._folder):
            lines = [(given, submission_line(self._secret, given)) for given in handed_in]
            known = self._known.submissions
            missing = dict.fromkeys(line for _, line in lines if line.sha256 not in known)
            if missing:
                self._append([*missing])
            there = {path.name for path in (self._folder / _RECEIPTS).glob("*.json")}
            for given, line in lines:
                if _named(given.submission) not in there:
                    self._keep(given, line, known[line.sha256], self._known.key)
            return {given.submission: known[line.sha256] for given, line in lines}

    def scored_with(self, task: str, phase: str | None, sha256: str) -> None:
        """A line, where this is another gold than the log knows of. ``sha256``: of all of its file."""
        from sandscore.disclosure.keyed_names import keyed_gold

        shown = keyed_gold(sha256, self._secret)
        with self._alone(), told(self._folder):
            if (known := self._known.gold.get((task, phase))) is not None and known != shown:
                hashed = self._hashed(phase, gold_name(task), sha256)
                self._append([GoldLine(phase=phase, task=task, sha256=hashed, gold=shown)])

    def gold_known(self, task: str, phase: str | None) -> str | None:
        """How the log names the gold in force."""
        with self._alone():
            return self._known.gold.get((task, phase))

    def board(self, task: str, phase: str | None, board: Mapping[str, Any], scored: Iterable[int]) -> None:
        """A line about a board that is about to be shown, unless the last one says the same."""
        with self._alone(), told(self._folder):
            group, content, now = (task, phase), board_content(board), frozenset(scored)
            before = self._known.scored.get(group, frozenset())
            if (self._known.boards.get(group), before) == (content, now):
                return
            added, gone = tuple(sorted(now - before)), tuple(sorted(before - now))
            self._append([BoardLine(task, phase, content, len(board["rows"]), added, gone)])

    def opening_root(self, phase: str | None) -> str | None:
        """The root of the tree when the phase began, as ``verify`` computes it."""
        edge = RightEdge()
        for line in self._lines(0):
            edge.append(leaf_hash(line))
            known = decoded(line, ENTRIES)
            if isinstance(known, CommitmentLine) and known.phase == phase:
                return edge.root().hex()
        return None

    def publish(self, openings: Iterable[Opening] = ()) -> None:
        """New lines to where everybody reads them, under a checkpoint; and what opens lines that may be opened."""
        with self._alone(), told(self._public):
            if not self.begun:
                return
            self._public.mkdir(exist_ok=True)
            self._public.chmod(ALL_FOLDER)
            self._sign()
            content = b"".join(msgspec.json.encode(one) + b"\n" for one in openings)
            if content and not _holds(self._public / OPENINGS, content):
                _show(self._public / OPENINGS, content)

    def submission_openings(self, handed_in: Iterable[HandedIn]) -> Iterator[Opening]:
        for given in handed_in:
            position = self._known.submissions.get(submission_line(self._secret, given).sha256)
            if position is not None:
                yield SubmissionOpening(position, submission_salt(self._secret, given).hex(), given)

    def data_openings(self, task: str, phase: str | None, *, notes: bool) -> Iterator[Opening]:
        """Of what is in force once this gold will never be used again: the gold, ``challenge.toml`` and practice notes,
        and the notes where they are nobody's secret."""
        with suppress(SandscoreError):
            files = {gold_name(task): _content(self._workspace.gold(task, phase))}
            files |= {name: content for name, content in self._files(phase).items() if notes or name != NOTES}
            for name, content in files.items():
                salt = data_salt(self._secret, phase, name)
                position, hashed = self._known.data.get((phase, name), (0, ""))
                if hashed == salted(salt, content.encode()):
                    yield DataOpening(position, name, salt.hex(), content)

    def rotate(self) -> str:
        """A new key in place of the one that signed so far, which approves it; the new public key."""
        with self._alone(), told(self._folder):
            before = self._key()
            fresh = new_key(before.name)
            write_file(self._folder / _NEXT_KEY, fresh.text.encode() + b"\n", sync=True, mode=OWNER_FILE)
            approval = base64_text(before.sign(approving(fresh.public.text)))
            self._append([KeyLine(fresh.public.text, before.public.text, approval)])
            (self._folder / _NEXT_KEY).replace(self._folder / _KEY)
        return fresh.public.text

    @property
    def _public(self) -> Path:
        return public_path(self._workspace.root, LOG)

    @property
    def _secret(self) -> bytes:
        self._salt = self._salt or read_salt(self._workspace.salt)
        return self._salt

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Nobody writes to it meanwhile; where nobody can, no lock is needed to be sure of that."""
        if (self._folder.is_dir() and os.access(self._folder, os.W_OK)) or os.access(self._folder.parent, os.W_OK):
            with self._locked():
                yield
        else:
            yield

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else writes to the log meanwhile, and all that others wrote has been read."""
        with self._locked():
            self._read_on()
            yield

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with told(self._folder):
            if not self._folder.is_dir():
                self._folder.mkdir(mode=OWNER_FOLDER, exist_ok=True)
            lock = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_FILE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _read_on(self) -> None:
        for line in self._lines(self._known.bytes):
            where = f"line {self._known.size + 1} of {self._entries}"
            self._known.learn(decoded(line, where))
            self._known.bytes += len(line) + 1

    def _lines(self, begin: int) -> Iterator[bytes]:
        """Whole lines from there on; what a killed writer left of another is none."""
        if not self.begun:
            return
        with self._entries.open("rb") as file:
            file.seek(begin)
            for line in file:
                if line.endswith(b"\n"):
                    yield line[:-1]

    def _append(self, lines: Sequence[LogLine]) -> None:
        with self._entries.open("ab") as file:
            _put(file, b"".join(encoded(line) + b"\n" for line in lines), self._known.bytes)
        self._read_on()

    def _keep(self, given: HandedIn, line: SubmissionLine, position: int, key: str | None) -> Receipt:
        receipt = Receipt(
            log=str(key).partition("+")[0],
            position=position,
            sha256=line.sha256,
            submission=given.submission,
            task=given.task,
            phase=given.phase,
            content=given.content,
            salt=submission_salt(self._secret, given).hex(),
        )
        content = receipt_text(receipt).encode()
        folder = self._folder / _RECEIPTS
        if not folder.is_dir():
            folder.mkdir(mode=OWNER_FOLDER, exist_ok=True)
        write_file(folder / _named(given.submission), content, mode=OWNER_FILE)
        return receipt

    def _commitment(self, phase: str | None) -> CommitmentLine:
        from sandscore.disclosure.keyed_names import keyed_gold

        workspace = self._workspace
        golds = {task: _content(workspace.gold(task, phase)) for task in workspace.tasks(phase)}
        files = self._files(phase) | {gold_name(task): content for task, content in golds.items()}
        salts = {name: data_salt(self._secret, phase, name) for name in files}
        return CommitmentLine(
            phase,
            {name: salted(salts[name], content.encode()) for name, content in files.items()},
            {task: keyed_gold(content.removeprefix(_SHA256), self._secret) for task, content in golds.items()},
        )

    def _files(self, phase: str | None) -> dict[str, str]:
        """What a phase is about beside its gold."""
        workspace = self._workspace
        files = {CHALLENGE: _content(workspace.challenge_file), NOTES: _content(workspace.notes(phase))}
        practice = resolved(workspace.challenge, chosen_phase(workspace.challenge, phase)).practice
        if practice and (notes := find_data_file(Path(practice), NOTES)) is not None:
            files[PRACTICE] = _content(notes)
        return files

    def _changes(self, phase: str | None) -> Iterator[DataLine]:
        """Nothing while notes cannot be read: whoever needs them says so."""
        with suppress(SandscoreError):
            for name, content in self._files(phase).items():
                hashed = self._hashed(phase, name, content.removeprefix(_SHA256))
                if (phase, name) in self._known.data and self._known.data[phase, name][1] != hashed:
                    yield DataLine(phase, name, hashed)

    def _hashed(self, phase: str | None, name: str, sha256: str) -> str:
        return salted(data_salt(self._secret, phase, name), f"{_SHA256}{sha256}".encode())

    def _key(self) -> SignerKey:
        """The key that the log names last; a rotation that was broken off is carried through."""
        path, following = self._folder / _KEY, self._folder / _NEXT_KEY
        if self._known.key is None and not path.exists():
            slug = file_name(self._workspace.challenge.challenge)
            key = new_key(f"sandscore.log/{slug}-{secrets.token_hex(4)}")
            write_file(path, key.text.encode() + b"\n", sync=True, mode=OWNER_FILE)
        for secret in (path, following):
            if secret.exists():
                secret.chmod(OWNER_FILE)
        if self._known.key is not None and following.exists() and read_key(following).public.text == self._known.key:
            following.replace(path)
        key = read_key(path)
        if self._known.key not in (None, key.public.text):
            raise OrganiserFault(f"{path} is not the key that the log names; restore it from a backup")
        return key

    def _sign(self) -> None:
        """Lines beyond the last checkpoint are copied, then signed; the last checkpoint must be one of these lines."""
        edge, signed = self._edge(), self._signed()
        if edge.bytes > self._known.bytes:
            edge = _Edge()
        tree = RightEdge(edge.size, [bytes.fromhex(root) for root in edge.roots])
        _refuse_other_root(tree, signed, self._folder)
        source, target = self._entries, self._public / ENTRIES
        fresh = list(self._lines(edge.bytes))
        if not fresh and signed is not None and signed.size == edge.size:
            return
        for line in fresh:
            tree.append(leaf_hash(line))
            _refuse_other_root(tree, signed, self._folder)
        if signed is not None and signed.size > tree.size:
            raise OrganiserFault(f"{source} has {tree.size} lines, {signed.size} are signed: restore it from a backup")
        size = edge.bytes + sum(len(line) + 1 for line in fresh)
        _copy_on(source, target, size)
        key = self._key()
        checkpoint = Checkpoint(key.name, tree.size, tree.root())
        _show(self._public / CHECKPOINT, sign_note(checkpoint.text, [key]).encode())
        now = _Edge(size, tree.size, tuple(root.hex() for root in tree.roots), self._known.key)
        write_file(self._folder / _EDGE, msgspec.json.encode(now), mode=OWNER_FILE)

    def _edge(self) -> _Edge:
        try:
            edge = msgspec.json.decode((self._folder / _EDGE).read_bytes(), type=_Edge)
        except (OSError, msgspec.MsgspecError):
            return _Edge()
        return edge

    def _signed(self) -> Checkpoint | None:
        path = self._public / CHECKPOINT
        if not path.exists():
            return None
        return read_checkpoint(read_note(path.read_bytes(), path), path)


_SHA256 = "sha256:"


def receipt_facts(workspace: Workspace, submission: str) -> dict[str, object] | None:
    """The receipt of a submission for programs, once it is written."""
    receipt = PublicLog(workspace).receipt(submission)
    return None if receipt is None else dict(msgspec.to_builtins(receipt))


def receipt_text(receipt: Receipt) -> str:
    """As its team keeps it."""
    return msgspec.json.format(msgspec.json.encode(receipt), indent=1).decode() + "\n"


def _put(file: BinaryIO, lines: bytes, end: int) -> None:
    """After the last whole line, and brought to disk; what a killed writer left behind it goes."""
    os.fchmod(file.fileno(), OWNER_FILE)
    there = file.seek(0, os.SEEK_END)
    if there < end:
        raise OrganiserFault(f"{file.name} has {there} bytes, {end} were signed: restore it from a backup")
    if there > end:
        file.truncate(end)
        file.seek(end)
    file.write(lines)
    file.flush()
    os.fsync(file.fileno())


def _first_key(line: bytes) -> str | None:
    first = decoded(line.removesuffix(b"\n"), ENTRIES)
    return first.key if isinstance(first, KeyLine) else None


def _named(submission: str) -> str:
    return f"{file_name(submission)}.json"


def _content(path: Path) -> str:
    """A file by its hash, unpacked, as cards name it."""
    return f"{_SHA256}{content_sha256(path)}"


def _refuse_other_root(tree: RightEdge, signed: Checkpoint | None, folder: Path) -> None:
    if signed is not None and signed.size == tree.size and signed.root != tree.root():
        raise OrganiserFault(
            f"{folder / ENTRIES} was changed: its first {signed.size} lines are not those that were signed; "
            "restore it from a backup"
        )


def _copy_on(source: Path, target: Path, size: int) -> None:
    """What the copy lacks; one that was broken off is a beginning of it."""
    with target.open("ab") as copy, source.open("rb") as given:
        os.fchmod(copy.fileno(), ALL_FILE)
        have = copy.tell()
        if have > size:
            raise OrganiserFault(f"{target} is longer than {source}: restore both from a backup")
        given.seek(have)
        copy.write(given.read(size - have))
        copy.flush()
        os.fsync(copy.fileno())


def _show(path: Path, content: bytes) -> None:
    """Whole, and for everybody, whatever this process was started with."""
    with part_of(path) as part:
        write_file(part, content, sync=True)
        part.chmod(ALL_FILE)


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
