"""The bundled schemas and the example challenge: inside the wheel, else in the checkout."""

from functools import cache
from pathlib import Path


@cache
def root() -> Path:
    """The folder that holds ``schemas/``, ``gold/`` and ``submissions/``."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_content"
    return installed if installed.is_dir() else package.parents[1]


def schema_path(name: str) -> Path:
    return root() / "schemas" / f"{name}.schema.json"


def example_gold() -> Path:
    return root() / "gold" / "example"


def hipaa_map() -> Path:
    return root() / "gold" / "hipaa.json"


def submissions() -> Path:
    return root() / "submissions"
