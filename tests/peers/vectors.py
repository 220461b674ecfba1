"""Where the recorded runs of the original scorers lie: in the repository, or under ``SANDSCORE_VECTORS``."""

import os
from pathlib import Path

_HERE = Path(__file__).resolve().parents[1] / "vectors"


def family_directory(family: str) -> Path:
    """The directory of one family of cases."""
    elsewhere = os.environ.get("SANDSCORE_VECTORS")
    return (Path(elsewhere) if elsewhere else _HERE) / family


def cases(family: str) -> list[Path]:
    """Every case file of a family, in order of name, subdirectories too; finding none is a failure."""
    root = family_directory(family)
    found = sorted(root.rglob("*.json"))
    if not found:
        raise FileNotFoundError(f"no cases under {root}")
    return found
