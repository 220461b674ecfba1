"""The registry of teams: who may hand in over HTTP, and by which tokens. Its file is its history, a line each.

A token is ``id.secret``. The secret is shown once and kept as its SHA-256, of no use to whoever reads it. Any number
of processes read and write: each reads on before it answers.
"""

import csv
import fcntl
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from sandscore.base.clock import utc_now, written
from sandscore.base.errors import MissingFile, UsageFault, did_you_mean
from sandscore.base.terminal_text import one_line, printable
from sandscore.base.whole_files import told, write_file
from sandscore.queue.queue_layout import OWNER_FILE, private_path
from sandscore.queue.workspace import Workspace

FILE, _LOCK = "teams.jsonl", "teams.lock"
_ID_BYTES, _SECRET_BYTES, _LONGEST = 6, 32, 200
_TOKEN = re.compile(r"([0-9a-f]{12})\.([A-Za-z0-9_-]{43})")
_NO_SECRET = hashlib.sha256(b"").hexdigest()
_MAIL = re.compile(r"[^\s@]{1,64}@[^\s@]{1,190}")


class TeamAdded(Struct, frozen=True, tag="added", kw_only=True):
    """A team that may hand in from now on."""

    team: str
    when: str
    who: str
    mail: str | None = None


class TeamRemoved(Struct, frozen=True, tag="removed", kw_only=True):
    """A team that may not any more; what it handed in stays."""

    team: str
    when: str
    who: str


class TokenIssued(Struct, frozen=True, tag="token", kw_only=True):
    """A token for one person of a team; of its secret the hash."""

    team: str
    token: str
    sha256: str
    person: str
    when: str
    who: str


class TokenRevoked(Struct, frozen=True, tag="revoked", kw_only=True):
    """A token that is worth nothing any more."""

    token: str
    when: str
    who: str


TeamEvent = TeamAdded | TeamRemoved | TokenIssued | TokenRevoked


class RegisteredTeam(Struct):
    """A team as it stands, with its valid tokens by id."""

    name: str
    mail: str | None
    since: str
    tokens: dict[str, TokenIssued] = field(default_factory=dict)


class TokenOwner(Struct, frozen=True):
    """Who a valid token belongs to."""

    team: str
    token: str
    person: str


class TeamRegistry:
    """One queue's. Changes are on disk when the call returns."""

    def __init__(self, workspace: Workspace) -> None:
        self._path = private_path(workspace.root, FILE)
        self._lock = private_path(workspace.root, _LOCK)
        self._read: tuple[int, int] = (0, 0)
        self._teams: dict[str, RegisteredTeam] = {}
        self._tokens: dict[str, str] = {}

    def teams(self) -> Sequence[RegisteredTeam]:
        """Those that may hand in, by name."""
        self._read_on()
        return [self._teams[name] for name in sorted(self._teams)]

    def owner(self, presented: str) -> TokenOwner | None:
        """Of a token; None where it is none of ours. The time it takes says nothing of how wrong it was."""
        matched = _TOKEN.fullmatch(presented)
        token, secret = (matched[1], matched[2]) if matched else ("", "")
        issued = self.issued(token)
        right = hmac.compare_digest(_hashed(secret), issued.sha256 if issued is not None else _NO_SECRET)
        return TokenOwner(issued.team, token, issued.person) if issued is not None and right else None

    def issued(self, token: str) -> TokenIssued | None:
        """The token of that id, while it is worth something."""
        self._read_on()
        team = self._tokens.get(token)
        return None if team is None else self._teams[team].tokens[token]

    def mail(self, team: str) -> str | None:
        """Where the team hears of what becomes of its submissions."""
        self._read_on()
        known = self._teams.get(team)
        return None if known is None else known.mail

    def add(self, team: str, mail: str | None, who: str) -> None:
        checked_team(team)
        if mail is not None and not (_MAIL.fullmatch(mail) and mail.isprintable()):
            raise UsageFault(f"{one_line(mail)} is no mail address")
        with self._alone():
            if team in self._teams:
                raise UsageFault(f"there is a team {one_line(team)} already")
            self._append(TeamAdded(team=team, mail=mail, when=_now(), who=who))

    def remove(self, team: str, who: str) -> None:
        """Its tokens go with it."""
        with self._alone():
            self._known(team)
            self._append(TeamRemoved(team=team, when=_now(), who=who))

    def issue(self, team: str, person: str, who: str) -> str:
        """A new token, which nobody can be told again."""
        if not person.strip() or not person.isprintable() or len(person) > _LONGEST:
            raise UsageFault(f"a person's name has 1 to {_LONGEST} printable characters")
        token, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
        with self._alone():
            self._known(team)
            self._append(
                TokenIssued(team=team, token=token, sha256=_hashed(secret), person=person, when=_now(), who=who)
            )
        return f"{token}.{secret}"

    def revoke(self, team: str, token: str, who: str) -> None:
        with self._alone():
            if token not in self._known(team).tokens:
                raise UsageFault(f"the team {one_line(team)} has no token {one_line(token)}")
            self._append(TokenRevoked(token=token, when=_now(), who=who))

    def history(self) -> Sequence[TeamEvent]:
        """All that was ever done to teams and tokens, oldest first."""
        return [event for line in self._lines(0) if (event := _event(line)) is not None]

    def names(self) -> set[str]:
        """Of all teams that the history names."""
        return {event.team for event in self.history() if not isinstance(event, TokenRevoked)}

    def forget(self, team: str, pseudonym: str) -> None:
        """The history anew: the team under its pseudonym, removed, without mail, people and hashes."""
        with self._alone():
            kept = [_pseudonymised(event, team, pseudonym) for event in self.history()]
            if kept and pseudonym in {event.team for event in kept if isinstance(event, TeamAdded)}:
                kept.append(TeamRemoved(team=pseudonym, when=_now(), who="erased"))
            with told(self._path):
                write_file(self._path, b"".join(map(_line, kept)), sync=True, mode=OWNER_FILE)

    def _known(self, team: str) -> RegisteredTeam:
        if team not in self._teams:
            raise UsageFault(f"there is no team {one_line(team)}{did_you_mean(team, self._teams)}")
        return self._teams[team]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with told(self._lock):
            lock = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_FILE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._read_on()
            yield
        finally:
            os.close(lock)

    def _append(self, event: TeamEvent) -> None:
        with told(self._path), self._path.open("ab") as file:
            os.fchmod(file.fileno(), OWNER_FILE)
            file.truncate(self._read[1])  # what a killed writer left of a line
            file.write(_line(event))
            file.flush()
            os.fsync(file.fileno())
        self._read_on()

    def _read_on(self) -> None:
        """What was added; all of it where the file was replaced."""
        try:
            seen = self._path.stat()
        except FileNotFoundError:
            return
        inode, size = self._read
        if (seen.st_ino, seen.st_size) == self._read:
            return
        if seen.st_ino != inode or seen.st_size < size:
            self._teams, self._tokens, size = {}, {}, 0
        for line in self._lines(size):
            size += len(line)
            if (event := _event(line)) is not None:
                self._learn(event)
        self._read = (seen.st_ino, size)

    def _lines(self, begin: int) -> Iterator[bytes]:
        if not self._path.exists():
            return
        with told(self._path), self._path.open("rb") as file:
            file.seek(begin)
            yield from (line for line in file if line.endswith(b"\n"))

    def _learn(self, event: TeamEvent) -> None:
        if isinstance(event, TeamAdded):
            self._teams[event.team] = RegisteredTeam(event.team, event.mail, event.when)
        elif isinstance(event, TeamRemoved):
            for token in self._teams.pop(event.team).tokens if event.team in self._teams else ():
                del self._tokens[token]
        elif isinstance(event, TokenIssued):
            if event.team in self._teams:
                self._teams[event.team].tokens[event.token] = event
                self._tokens[event.token] = event.team
        elif (team := self._tokens.pop(event.token, None)) is not None:
            del self._teams[team].tokens[event.token]


def _pseudonymised(event: TeamEvent, team: str, pseudonym: str) -> TeamEvent:
    if isinstance(event, TokenRevoked) or event.team != team:
        return event
    if isinstance(event, TeamAdded):
        return replace(event, team=pseudonym, mail=None)
    if isinstance(event, TokenIssued):
        return replace(event, team=pseudonym, person=pseudonym, sha256="")
    return replace(event, team=pseudonym)


class NewTeam(Struct, frozen=True):
    """A line of a CSV of teams; with a person it is given a token."""

    team: str
    mail: str | None
    person: str | None


def read_teams(path: Path) -> list[NewTeam]:
    """A CSV with the columns team, mail and person, the last two of which may be missing or empty."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, restkey="more", strict=True))
    except OSError as fault:
        raise MissingFile(f"{path}: {fault.strerror}") from None
    except (csv.Error, UnicodeDecodeError) as fault:
        raise UsageFault(f"{path} is no CSV in UTF-8: {fault}") from None
    found = []
    for number, row in enumerate(rows, 2):
        if not row.keys() <= {"team", "mail", "person"} or not row.get("team"):
            raise UsageFault(f"{path}, line {number}: the columns are team, mail and person, and each line has a team")
        found.append(NewTeam(row["team"], row.get("mail") or None, row.get("person") or None))
    return found


def import_teams(registry: TeamRegistry, given: Sequence[NewTeam], who: str) -> Iterator[tuple[NewTeam, str | None]]:
    """Each with its token. A team that is known already stays as it is, and gets tokens for further persons."""
    for one in given:
        checked_team(one.team)
    for one in given:
        if one.team not in {known.name for known in registry.teams()}:
            registry.add(one.team, one.mail, who)
        yield one, None if one.person is None else registry.issue(one.team, one.person, who)


def checked_team(name: str) -> None:
    """As ``queue submit`` takes it, and without blanks that nobody sees."""
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST or name != name.strip():
        raise UsageFault(f"a team's name has 1 to {_LONGEST} printable characters, no blanks around them")


def as_json(found: Sequence[RegisteredTeam] | Sequence[TeamEvent]) -> str:
    """For programs."""
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode()


def as_text(found: Sequence[RegisteredTeam] | Sequence[TeamEvent]) -> str:
    """For people: a line each, and one for each token; hashes left out."""
    lines = []
    for one in found:
        told = {name: value for name, value in msgspec.to_builtins(one).items() if name not in ("tokens", "sha256")}
        lines.append("  ".join(printable(str(value)) for value in told.values() if value is not None))
        if isinstance(one, RegisteredTeam):
            lines += [f"  {token.token}  {token.when}  {printable(token.person)}" for token in one.tokens.values()]
    return "\n".join(lines) or "no teams"


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _now() -> str:
    return written(utc_now())


def _line(event: TeamEvent) -> bytes:
    return msgspec.json.encode(event) + b"\n"


def _event(line: bytes) -> TeamEvent | None:
    try:
        event: TeamEvent = msgspec.json.decode(line, type=TeamEvent)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return event
