"""The two halves of a queue's folder: ``private/`` for its owner alone, and ``public/``, which may be served.

Older versions kept everything at the root. A folder of theirs has no halves yet, and one whose move was broken off has
some of it here and some there: so each name is looked for in its half first, and else at the root.
"""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PRIVATE, PUBLIC = "private", "public"
CHALLENGE, SETTINGS, SALT = "challenge.toml", "settings.json", "salt"
EDITED = (CHALLENGE, SETTINGS)
"""What organisers edit: links at the root lead there, and a file that took a link's place is newer than what it hid."""
SHOWN = ("site", "boards", "cards")
"""What may be served; links at the root lead there for one release more."""
LOG, LOGBOOK = "log", "logbook"
"""The public log, and the folder in which it is kept before it is published."""
OWNER_FOLDER, OWNER_FILE, ALL_FOLDER, ALL_FILE, ROOT = 0o700, 0o600, 0o755, 0o644, 0o711
_OWNER_MASK = 0o077
_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


Passes = Callable[[str], bool]
"""Whether what lies under a name of ``SHOWN`` may be seen by everybody."""


def anything(name: str) -> bool:
    """What was served so far may be served."""
    return True


def half(root: Path, name: str) -> Path:
    """The half of that name; the root itself where the folder has none yet."""
    return root / name if (root / PRIVATE).is_dir() else root


def private_path(root: Path, name: str) -> Path:
    """Where a private file or folder lies, or is to be made."""
    return _place(root, PRIVATE, name)


def public_path(root: Path, name: str) -> Path:
    """Where a file or folder that may be served lies, or is to be made."""
    return _place(root, PUBLIC, name)


def edited_path(root: Path, name: str) -> Path:
    """The file that an organiser edited last."""
    return root / name if _at_root(root, PRIVATE, name) else private_path(root, name)


def lying(root: Path, which: str, names: Sequence[str]) -> list[str]:
    """Those of the names that stand at the root themselves, not as a link into their half."""
    return [name for name in names if _at_root(root, which, name)]


def stands(path: Path) -> bool:
    """Whether anything has that name, a link that leads nowhere included."""
    try:
        os.lstat(path)
    except OSError as fault:
        if fault.errno in _NOTHING_THERE:
            return False
        raise
    return True


def make_link(root: Path, which: str, name: str) -> None:
    """At the root, to where it lies in its half; whatever stands there stays."""
    if not stands(root / name):
        (root / name).symlink_to(f"{which}/{name}")


def make_links(root: Path, edited: Sequence[str], passes: Passes = anything) -> None:
    """Links at the root; where something that is shown does not pass there is none."""
    for name in edited:
        make_link(root, PRIVATE, name)
    for name in SHOWN:
        if passes(name):
            make_link(root, PUBLIC, name)
        elif _leads(root, PUBLIC, name):
            (root / name).unlink()


@contextmanager
def steady(root: Path) -> Iterator[None]:
    """Nobody moves anything of the folder meanwhile."""
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # whoever reads it next says what is wrong with it
        yield
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_SH)
        yield
    finally:
        os.close(folder)


@contextmanager
def moving(root: Path) -> Iterator[None]:
    """Nobody looks for anything of the folder meanwhile."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def owner_only() -> Iterator[None]:
    """What this process makes meanwhile is its owner's alone, whatever it was started with."""
    before = os.umask(_OWNER_MASK)
    try:
        yield
    finally:
        os.umask(before)


def _place(root: Path, which: str, name: str) -> Path:
    inside = root.joinpath(which, name)
    if stands(inside):
        return inside
    return root / name if _at_root(root, which, name) else half(root, which) / name


def _at_root(root: Path, which: str, name: str) -> bool:
    return stands(root / name) and not _leads(root, which, name)


def _leads(root: Path, which: str, name: str) -> bool:
    try:
        return (root / name).readlink() == Path(which, name)
    except OSError:
        return False
