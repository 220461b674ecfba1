"""The table of homes: ours, and one of somebody else's where the folder of a queue or ``--home`` names it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sandscore.base.errors import UsageFault
from sandscore.base.own_rows import OWN_ROWS
from sandscore.base.registry import Registry
from sandscore.queue.homes.home_row import Chosen, HomeRow

if TYPE_CHECKING:
    from sandscore.queue.queue_setup import NewQueue, QueueMade
    from sandscore.queue.workspace import Workspace

GROUP = "sandscore.homes"
HOMES: Registry[HomeRow] = Registry("home", GROUP, "sandscore.queue.homes.home_row:HomeRow", OWN_ROWS[GROUP])
DEFAULT = "sqlite"


def our_homes() -> Iterator[HomeRow]:
    """Those that every installation has."""
    return (row() for row in HOMES)


def named_folder(chosen: Chosen) -> Path | None:
    """The folder of a queue, where an option of its home names it."""
    return next((folder for row in our_homes() if (folder := row.folder(chosen)) is not None), None)


def home_of(workspace: "Workspace", chosen: Chosen) -> HomeRow:
    """The home whose queue lies in the folder; what the command says and what the folder says must agree."""
    if workspace.settings.home is not None:
        return HOMES.find(workspace.settings.home)()
    owners = (row for row in our_homes() if row.owns(workspace.root, chosen) is not None)
    return next(owners, None) or HOMES.find(DEFAULT)()


def make_queue(name: str | None, new: "NewQueue") -> "QueueMade":
    """A queue of the home that is named or that the options ask for; else in the folder alone."""
    from msgspec.structs import replace

    row = HOMES.find(name)() if name else next((r for r in our_homes() if r.wants(new.chosen)), HOMES.find(DEFAULT)())
    others = [other for other in our_homes() if other.name != row.name]
    strange = any(new.chosen.get(option.name) for other in others for option in other.init_options)
    if strange or (new.folder is None and not row.wants(new.chosen)):
        places = [f", or {other.new_place}" for other in others if other.new_place]
        raise UsageFault(f"name the DIR to make{''.join(places)}")
    if name not in (None, *HOMES.names):
        new = replace(new, settings=new.settings.model_copy(update={"home": name}))
    if new.folder is not None and not row.wants(new.chosen):
        _require_free(new.folder, row)
    return row.init(new)


def _require_free(folder: Path, row: HomeRow) -> None:
    """The folder may be a queue of this home, or none."""
    for other in our_homes():
        if other.name != row.name and (found := other.owns(folder, {})) is not None:
            raise UsageFault(f"{folder} is {found} already")
    if (found := _remembered(folder)) not in (None, row.name):
        raise UsageFault(f"{folder} is a queue of the home '{found}' already")


def _remembered(folder: Path) -> str | None:
    """The name of the home in the folder's settings, however little else is right with them."""
    from sandscore.queue.queue_layout import SETTINGS, edited_path

    try:
        known = json.loads(edited_path(folder, SETTINGS).read_bytes())
    except (OSError, ValueError):
        return None
    return known.get("home") if isinstance(known, dict) else None
