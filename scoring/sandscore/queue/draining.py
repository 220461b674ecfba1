"""The mark of a queue that drains: what runs is finished, and nothing is claimed until it is taken away."""

from pathlib import Path

from sandscore.base.whole_files import told, write_synced
from sandscore.queue.queue_layout import private_path

FILE = "draining"


def is_draining(root: Path) -> bool:
    """Whether workers with this folder leave alone what waits. Looked at before every claim."""
    return private_path(root, FILE).exists()


def drain(root: Path) -> bool:
    """False where it drains already."""
    path = private_path(root, FILE)
    if path.exists():
        return False
    with told(path):
        write_synced(path, b"")
    return True


def undrain(root: Path) -> bool:
    """False where it did not drain."""
    path = private_path(root, FILE)
    with told(path):
        try:
            path.unlink()
        except FileNotFoundError:
            return False
    return True
