"""Files by which a board can be checked, told by name and beginning: nothing of them is read yet."""

from pathlib import Path

STATEMENT_ENDING = ".intoto.json"
CRATE_METADATA = "ro-crate-metadata.json"
_ZIP = b"PK\x03\x04"


def statements_beside(board: Path) -> list[Path]:
    """Envelopes of signed statements that lie beside a board and are called after it."""
    return sorted(board.parent.glob(f"{board.stem}*{STATEMENT_ENDING}"))


def is_crate(path: Path) -> bool:
    """Whether this is the archive of a challenge, or the folder that one was unpacked into."""
    if path.is_dir():
        return (path / CRATE_METADATA).is_file()
    try:
        with path.open("rb") as file:
            return file.read(len(_ZIP)) == _ZIP
    except OSError:
        return False
