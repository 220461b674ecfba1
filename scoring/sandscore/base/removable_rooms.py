"""Rooms that can be taken away, and the sentence for who asks for one that is gone; everything else works without them.

What needs such a room imports it where it is asked for, inside ``with REMOVABLE:``; a room below it, which does
without where there is none, asks for ``part_of_a_room``, and one that cannot for ``needed_part``.
"""

from functools import cache
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from sandscore.base.errors import UsageFault

if TYPE_CHECKING:
    from sandscore.kernel.compiled_calls import CompiledCalls

ROOMS = {
    "board_tables": "boards as tables: text, CSV, Markdown, a DataFrame",
    "challenges": "a challenge's rules, and what teams are told while a phase runs",
    "containers": "annotators run: images, programs on this machine, addresses, functions",
    "disclosure": "what may be published, and what a challenge lets others see",
    "documents": "annotations note by note: for measures of spans, other people's scorers, reports of single notes",
    "gold_index": "gold and notes as an index",
    "leaks": "measures of leaks",
    "memory_inputs": "inputs from memory: decoded JSON, DataFrames, spans, documents",
    "optional_rules": "rules of ranking that a challenge may choose: scores joined, other tests, other intervals",
    "pooling": "scores over several annotators' gold, and over all tasks",
    "original_scores": "scores by other people's scorers",
    "remedies": "causes of a file's problems, and files mended",
    "separation": "two cards compared, and patients planned for",
    "slices": "scores by slice, and on perturbed copies",
    "span_measures": "measures of overlap, and those of other packages",
    "verification": "boards verified",
}
"""What each is for."""


class MissingRoom(UsageFault):
    """A room that this installation does not have."""


def missing_room(fault: BaseException | None) -> MissingRoom | None:
    """The sentence for an import that failed because a room of ours is gone; None for every other fault."""
    name = (isinstance(fault, ModuleNotFoundError) and fault.name) or ""
    what = ROOMS.get(name.removeprefix("sandscore.").partition(".")[0])
    told = f"this installation has no {name}" + (f": {what}" if what else "")
    return MissingRoom(told) if name.startswith("sandscore.") else None


class RemovableImport:
    """Around an import: what is not there is said in a sentence."""

    def __enter__(self) -> None:
        """Nothing yet."""

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if missing := missing_room(fault):
            raise missing from None


REMOVABLE = RemovableImport()


def needed_part(target: str) -> Any:
    """What stands at ``room.module:name``, for a room below it that cannot do without."""
    with REMOVABLE:
        return _standing_at(target)


def _standing_at(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(f"sandscore.{module}"), name)


def part_of_a_room(target: str) -> Any:
    """The same; None where there is no such room."""
    room = f"sandscore.{target.partition('.')[0]}"
    try:
        return _standing_at(target)
    except ModuleNotFoundError as fault:
        if fault.name != room:
            raise
        return None


class _NothingCompiled:
    """No kernel: whatever it is asked to do, it does not."""

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return lambda *_given, **_named: None


@cache
def compiled() -> "CompiledCalls":
    """What compiled code does in the place of what is written here: of what it does not take, its calls make None.

    So do all of them where there is no kernel, which is false.
    """
    calls = part_of_a_room("kernel.compiled_calls:compiled_calls")
    return (calls and calls()) or cast("CompiledCalls", _NothingCompiled())
