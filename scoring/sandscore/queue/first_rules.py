"""The rules of queues that sandscore 0.1.0 made: defaults of its time, written down when the queue goes on with ours.

So its boards stay what they were; whoever wants today's rules takes the lines out again. And the names of its data
sets, which were then those of their folders, wherever these lay.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from sandscore.base.diagnostics import warn
from sandscore.base.errors import OrganiserFault
from sandscore.base.whole_files import write_synced
from sandscore.challenges.challenge_reading import parse_challenge
from sandscore.queue.queue_layout import (
    CHALLENGE,
    LOG,
    LOGBOOK,
    PRIVATE,
    SETTINGS,
    edited_path,
    private_path,
    public_path,
)
from sandscore.queue.settings import QueueSettings, folder_names
from sandscore.records.board import FIRST_RULES, SINCE
from sandscore.records.record_reading import file_content, read_record


def unwritten_rules(root: Path) -> Mapping[str, str]:
    """The keys that challenge.toml has to name for boards to stay as they are, each with its value."""
    path = edited_path(root, CHALLENGE)
    if not _of_first_release(root):
        return {}
    given = parse_challenge(file_content(path), str(path)).model_fields_set
    return {key: value for key, value in FIRST_RULES.items() if key not in given}


def write_first_rules(root: Path) -> Mapping[str, str]:
    """Write them, at the head of the file, where nothing else can claim them. Which were written."""
    rules, path = unwritten_rules(root), edited_path(root, CHALLENGE)
    if rules:
        head = "".join(f'{key} = "{value}"\n' for key, value in rules.items())
        content = f"# The rules of sandscore 0.1.0, by which this challenge began:\n{head}\n".encode() + file_content(
            path
        )
        parse_challenge(content, str(path))
        write_synced(path.resolve(), content)
        said = ", ".join(f'{key} = "{value}"' for key, value in rules.items())
        warn(f"{path} says now by which rules its boards were made: {said}")
    return rules


def write_first_names(root: Path) -> None:
    """What data sets are called, where settings.json does not say it yet: as its boards call them, or their folders."""
    path = edited_path(root, SETTINGS)
    content = file_content(path)
    settings = read_record(QueueSettings, content, path, "the settings of a queue", OrganiserFault)
    if settings.names:
        return
    names = folder_names(settings.data)
    for board in _boards(root):
        phase, called = _named_data(board)
        key = phase if phase in names else ""
        if called and key in names:
            names[key] = called
    said = json.dumps(json.loads(content) | {"names": names}, ensure_ascii=False, indent=2)
    write_synced(path.resolve(), f"{said}\n".encode())


def _named_data(board: Path) -> tuple[str | None, str | None]:
    """A board's phase, and what it calls its data set where that is one."""
    try:
        said = json.loads(file_content(board))
        names = [*said["gold"]]
    except (ValueError, KeyError, TypeError):
        return None, None
    return said.get("phase"), names[0] if len(names) == 1 else None


def _boards(root: Path) -> list[Path]:
    """Of now, and not of a version before a rescoring."""
    return sorted(path for path in public_path(root, "boards").glob("*.json") if ".v" not in path.stem)


def _of_first_release(root: Path) -> bool:
    """It has no halves and no log yet, or its boards do not say what their seed follows from."""
    if not (root / PRIVATE).is_dir() and not any(place(root, name).is_dir() for place, name in _LOGS):
        return True
    return any(_without_seed_rule(path) for path in _boards(root))


_LOGS = ((private_path, LOGBOOK), (public_path, LOG))


def _without_seed_rule(board: Path) -> bool:
    try:
        said = json.loads(file_content(board))
        return SINCE not in said["config"]
    except (ValueError, KeyError, TypeError):
        return False
