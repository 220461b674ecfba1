"""The move of an older queue's folder into its two halves. Killed at any moment, it is taken up again by the next."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from filecmp import cmp
from pathlib import Path
from typing import TYPE_CHECKING

from sandscore.base.diagnostics import warn
from sandscore.base.errors import OrganiserFault
from sandscore.base.whole_files import sync_folders, told
from sandscore.challenges.challenge_reading import read_challenge
from sandscore.disclosure.policy_choice import open_to_all
from sandscore.queue.first_rules import write_first_names, write_first_rules
from sandscore.queue.queue_layout import (
    ALL_FILE,
    ALL_FOLDER,
    CHALLENGE,
    EDITED,
    LOG,
    LOGBOOK,
    OWNER_FILE,
    OWNER_FOLDER,
    PRIVATE,
    PUBLIC,
    ROOT,
    SALT,
    SETTINGS,
    SHOWN,
    Passes,
    anything,
    edited_path,
    lying,
    make_links,
    moving,
    stands,
)

if TYPE_CHECKING:
    from sandscore.queue.homes.home_row import HomeRow

MOVED = "it now keeps private/ and public/ apart; only public/ is to be served"
OURS = (
    SALT,
    LOGBOOK,
    "files",
    "attempts",
    "gold-seen",
    "indexes",
    "counts",
    "notices.jsonl",
    "notices.sent",
    ".publishing.lock",
    ".published",
)
_LEFT = (".scratch-*", ".*.part")
_STAMPS = ".*.stamp"
_UNDER_WAY = ".moving"
_OTHERS_MASK = 0o077
_ELSEWHERE = (errno.EXDEV, errno.EBUSY)


def update_layout(root: Path, row: "HomeRow", passes: Passes | None = None) -> bool:
    """Give the folder of a queue its halves, unless somebody works with it just now, and take in what an organiser put
    in the place of a link. True if it had everything at its root before, or in part.

    What was shown and does not pass becomes private: an older version did not ask who holds the data, so it passes
    where everybody does.
    """
    root = root.resolve()
    if not any(stands(edited_path(root, name)) for name in (SETTINGS, *row.own_files)):
        return False
    with told(root, fault=OrganiserFault), moving(root):
        older = _older(root, row)
        if older:
            with row.resting(root) as rests:
                if not rests:
                    warn(f"{root} keeps the layout of an older version as long as somebody works with it")
                    return False
                write_first_rules(root)
                write_first_names(root)
                passes = passes or _by_policy(root)
                _move(root, row, passes)
        edited = (*EDITED, *row.edited_files)
        _take_in(root, edited)
        if not (root / PUBLIC).is_dir():
            make_folder(root / PUBLIC, ALL_FOLDER)
        make_links(root, edited, passes if older and passes else anything)
    return older


def _by_policy(root: Path) -> Passes:
    everything = open_to_all(read_challenge(edited_path(root, CHALLENGE)))
    return lambda _: everything


def _older(root: Path, row: "HomeRow") -> bool:
    private = root / PRIVATE
    if not private.is_dir() or (private / _UNDER_WAY).exists():
        return True
    return bool(lying(root, PRIVATE, _private_names(root, row)) or lying(root, PUBLIC, (*SHOWN, LOG)))


def _private_names(root: Path, row: "HomeRow") -> list[str]:
    """The home's own first: without them a worker of an older version finds no queue here, and leaves it alone."""
    left = sorted(path.name for pattern in _LEFT for path in root.glob(pattern))
    return [*(name for name in row.own_files if name not in row.edited_files), *OURS, *left]


def _move(root: Path, row: "HomeRow", passes: Passes) -> None:
    private, public = root / PRIVATE, root / PUBLIC
    make_folder(private, OWNER_FOLDER)
    (private / _UNDER_WAY).touch(OWNER_FILE)
    make_folder(public, ALL_FOLDER)
    sync_folders([private, root])
    for name in lying(root, PRIVATE, _private_names(root, row)):
        bring(root / name, private / name, public=False)
    for stamp in sorted((root / "boards").glob(_STAMPS)):
        bring(stamp, private / stamp.name, public=False)
    for name in lying(root, PUBLIC, (*SHOWN, LOG)):
        bring(root / name, (public if passes(name) else private) / name, public=passes(name))
    _take_in(root, (*EDITED, *row.edited_files))
    close_others(root)
    root.chmod(ROOT)
    sync_folders([private, public, root])
    (private / _UNDER_WAY).unlink()
    sync_folders([private])


def bring(source: Path, target: Path, *, public: bool) -> None:
    """Move it there with the rights it is to have; folders that both stand become one."""
    if source.is_symlink():
        _bring_link(source, target)
    elif _is_folder(source) and _is_folder(target):
        for inside in sorted(source.iterdir()):
            bring(inside, target / inside.name, public=public)
        source.rmdir()
    elif _same(source, target):
        source.unlink()
    elif stands(target):
        raise OrganiserFault(f"{source} and {target} are both there: take the one away that does not count")
    else:
        _set_rights(source, public)
        _rename(source, target)
    sync_folders([target.parent, source.parent])


def close_others(root: Path) -> None:
    """The folder itself may be passed through from now on: whatever else somebody put there is not for others."""
    for path in root.iterdir():
        mode = stat.S_IMODE(path.lstat().st_mode)
        if path.name not in (PRIVATE, PUBLIC) and not path.is_symlink() and mode & _OTHERS_MASK:
            path.chmod(mode & ~_OTHERS_MASK)


def _bring_link(source: Path, target: Path) -> None:
    """A link says what it said, seen from its new place."""
    if not stands(target):
        target.symlink_to(source.parent / source.readlink())
    source.unlink()


def _rename(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError as fault:
        if fault.errno not in _ELSEWHERE:
            raise
        warn(f"{source} lies on a disk of its own and stays where it is; move it to {target}")


def _take_in(root: Path, edited: Sequence[str]) -> None:
    """A file that an organiser put in the place of a link is newer than the one the link led to."""
    for name in lying(root, PRIVATE, edited):
        source, target = root / name, root / PRIVATE / name
        if source.is_symlink():
            target.unlink(missing_ok=True)
            _bring_link(source, target)
        else:
            _set_rights(source, public=False)
            source.replace(target)
        sync_folders([target.parent, root])


def _set_rights(place: Path, public: bool) -> None:
    """Before it is moved: afterwards nobody would know whether that was done."""
    folder, file = (ALL_FOLDER, ALL_FILE) if public else (OWNER_FOLDER, OWNER_FILE)
    for path in _tree(place):
        path.chmod(folder if _is_folder(path) else file)


def _tree(place: Path) -> Iterator[Path]:
    yield place
    for at, folders, files in os.walk(place):
        yield from (path for name in (*folders, *files) if not (path := Path(at, name)).is_symlink())


def make_folder(folder: Path, mode: int) -> None:
    """With these rights, whatever this process was started with."""
    folder.mkdir(exist_ok=True)
    folder.chmod(mode)


def _same(one: Path, other: Path) -> bool:
    """Copies may have been made of what links led to."""
    return one.is_file() and other.is_file() and cmp(one, other, shallow=False)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
