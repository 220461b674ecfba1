"""The erasure of a team: mail, tokens, files and logs go, and whatever stays calls it by a pseudonym.

That it was asked for is written down first, without the name, so that who is killed half-way goes on, and a backup from
before is made to forget again. What the public log holds are commitments that name nobody; scores stay on the boards.
"""

import hashlib
import hmac
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sandscore.base.clock import utc_now, written
from sandscore.base.errors import MissingFile, UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.base.whole_files import told, write_synced
from sandscore.intake.team_registry import TeamRegistry
from sandscore.queue.board_making import WITHDRAWN
from sandscore.queue.home_protocol import ErasedSubmissions
from sandscore.queue.homes.home_registry import home_of
from sandscore.queue.notices import LINES
from sandscore.queue.queue_layout import private_path
from sandscore.queue.workspace import Workspace, read_salt

FILE = "erased.jsonl"
_CARDS = "card.v*.json"


class TeamErasure(Struct, frozen=True):
    """That a team was erased: its name as a hash that only this challenge's salt makes."""

    name: str
    pseudonym: str
    when: str


def erase_team(workspace: Workspace, team: str) -> str:
    """The pseudonym under which its scores stay."""
    if team not in _known(workspace):
        raise UsageFault(f"there is no team {one_line(team)}, and none that ever handed in")
    name = _hashed(workspace, team)
    made = TeamErasure(name, f"erased-{name[:12]}", written(utc_now()))
    path, before = _file(workspace), [one for one in read_erasures(_file(workspace)) if one.name != name]
    with told(path):
        write_synced(path, b"".join(msgspec.json.encode(one) + b"\n" for one in [*before, made]))
    _carry_out(workspace, team, made.pseudonym)
    return made.pseudonym


def replay_erasures(workspace: Workspace, given: Sequence[TeamErasure] = ()) -> int:
    """What a backup has brought back is forgotten again; how many teams that were."""
    by_name = {one.name: one for one in (*read_erasures(_file(workspace)), *given)}
    found = [(team, by_name[name]) for team in _known(workspace) if (name := _hashed(workspace, team)) in by_name]
    for team, erasure in found:
        _carry_out(workspace, team, erasure.pseudonym)
    if given:
        content = b"".join(msgspec.json.encode(one) + b"\n" for one in by_name.values())
        write_synced(_file(workspace), content)
    return len(found)


def read_erasures(path: Path, *, required: bool = False) -> list[TeamErasure]:
    """All that were asked for."""
    try:
        return [msgspec.json.decode(line, type=TeamErasure) for line in path.read_bytes().splitlines()]
    except FileNotFoundError:
        if required:
            raise MissingFile(f"{path}: there is no such file") from None
        return []
    except msgspec.MsgspecError:
        raise UsageFault(f"{path} is no list of erased teams") from None


def _carry_out(workspace: Workspace, team: str, pseudonym: str) -> None:
    """Every step may be done twice; the database comes last, for it says what is still to be done."""
    door = home_of(workspace, {}).door(workspace)
    try:
        gone = door.submissions_to_erase(team)
        names = dict.fromkeys((team, *gone.names), pseudonym)
        for digest in gone.files:
            (workspace.files / digest).unlink(missing_ok=True)
        for submission in gone.ids:
            _strip(workspace.attempts / submission, names)
            workspace.counts(submission).unlink(missing_ok=True)
        for folder in (workspace.boards, workspace.private / WITHDRAWN):
            for board in folder.glob("*.json") if folder.is_dir() else ():
                _rename(board, names)
        for card in workspace.cards.glob("*.json") if workspace.cards.is_dir() else ():
            _rename(card, names)
        for stamp in workspace.private.glob(".*.stamp"):
            stamp.unlink(missing_ok=True)
        _drop_notices(private_path(workspace.root, LINES), gone)
        TeamRegistry(workspace).forget(team, pseudonym)
        door.erase(team, pseudonym)
    finally:
        door.close()


def _strip(folder: Path, names: Mapping[str, str]) -> None:
    """Of an attempt's files only the cards stay."""
    for attempt in folder.iterdir() if folder.is_dir() else ():
        cards = [card for card in attempt.glob(_CARDS) if card.is_file()]
        for card in cards:
            _rename(card, names)
        for path in attempt.iterdir():
            if path in cards:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _rename(path: Path, names: Mapping[str, str]) -> None:
    try:
        before = json.loads(path.read_bytes())
    except ValueError:  # what is no JSON was no card
        return
    if (after := _renamed(before, names)) != before:
        mode = path.stat().st_mode & 0o777
        write_synced(path, json.dumps(after, indent=1, ensure_ascii=False).encode())
        path.chmod(mode)


def _renamed(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_renamed(one, names) for one in value]
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(one, names) for key, one in value.items()}
    return value


def _drop_notices(path: Path, gone: "ErasedSubmissions") -> None:
    if path.exists():
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not any(f'"{one}"'.encode() in line for one in gone.ids)]
        if len(kept) < len(lines):
            write_synced(path, b"".join(kept))


def _known(workspace: Workspace) -> Iterable[str]:
    """All names that the registry or the queue still has."""
    door = home_of(workspace, {}).door(workspace)
    try:
        return {*door.teams(), *TeamRegistry(workspace).names()}
    finally:
        door.close()


def _hashed(workspace: Workspace, team: str) -> str:
    return hmac.new(read_salt(workspace.salt), f"team:{team}".encode(), hashlib.sha256).hexdigest()


def _file(workspace: Workspace) -> Path:
    return private_path(workspace.root, FILE)
