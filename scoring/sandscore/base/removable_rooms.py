"""Rooms that can be taken away, and the sentence for who asks for one that is gone; everything else works without them.

What needs such a room imports it where it is asked for, inside ``with REMOVABLE:``; a room below it, which does
without where there is none, asks for ``part_of_a_room``.
"""

from importlib import import_module
from types import TracebackType
from typing import Any

from sandscore.base.errors import UsageFault

ROOMS = {
    "board_tables": "boards as tables: text, CSV, Markdown, a DataFrame",
    "challenges": "a challenge's rules, and what teams are told while a phase runs",
    "containers": "annotators run: images, programs on this machine, addresses, functions",
    "documents": "annotations note by note: for measures of spans, other people's scorers, reports of single notes",
    "leaks": "measures of leaks",
    "memory_inputs": "inputs from memory: decoded JSON, DataFrames, spans, documents",
    "pooling": "scores over several annotators' gold, and over all tasks",
    "original_scores": "scores by other people's scorers",
    "remedies": "causes of a file's problems, and files mended",
    "separation": "two cards compared, and patients planned for",
    "slices": "scores by slice, and on perturbed copies",
    "span_measures": "measures of overlap, and those of other packages",
    "verification": "boards verified",
}
"""What each is for."""


class RemovableImport:
    """Around an import: what is not there is said in a sentence."""

    def __enter__(self) -> None:
        """Nothing yet."""

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        name = fault.name if isinstance(fault, ModuleNotFoundError) else None
        if name is not None and name.startswith("sandscore."):
            what = ROOMS.get(name.split(".")[1])
            raise UsageFault(f"this installation has no {name}" + (f": {what}" if what else "")) from None


REMOVABLE = RemovableImport()


def part_of_a_room(target: str) -> Any:
    """What stands at ``room.module:name``; None where there is no such room."""
    module, _, name = target.partition(":")
    room = f"sandscore.{module.partition('.')[0]}"
    try:
        return getattr(import_module(f"sandscore.{module}"), name)
    except ModuleNotFoundError as fault:
        if fault.name != room:
            raise
        return None
