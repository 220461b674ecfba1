"""Profiles as a user writes them: with the files that their parameters must name, made for the notes at hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sandscore.profiles.profile_registry import CHALLENGE, PROFILES


def written(profile: str, folder: Path, notes: Sequence[Mapping[str, Any]]) -> str:
    """The profile's name, and the files it needs, which are written to the folder."""
    companions = {} if profile == CHALLENGE else PROFILES.find(profile).example_companions(notes)
    for name, value in companions.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    inside = ",".join(f"{name}={folder / name}.json" for name in companions)
    return f"{profile}({inside})" if inside else profile
