"""Inputs as a caller of the library has them, as what the loader of annotation files takes.

A path stays a path; bytes and open binary files are taken as the file's own bytes. What is no file (decoded JSON, a
DataFrame, spans by note, documents with entities) is written as one by the room ``memory_inputs``.
"""

import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from sandscore.annotations.input_files import Inputs
from sandscore.base.byte_sources import InputFile, NamedBytes
from sandscore.base.errors import UsageFault
from sandscore.base.removable_rooms import REMOVABLE, part_of_a_room
from sandscore.task_table.task import Task


class GivenInputs(Struct, frozen=True):
    """What the loader takes, and what was understood in a way that the result should say."""

    inputs: Inputs
    remarks: tuple[str, ...] = ()


def given_inputs(task: Task, *, gold: Any = None, predictions: Any = None, notes: Any = None) -> GivenInputs:
    """All inputs of a call: notes first, whose order and texts the others follow, then gold, then predictions."""
    index = Path(gold) if isinstance(gold, str | os.PathLike) and _is_index(gold) else None
    values = {"notes": notes, "gold": None if index else gold, "predictions": predictions}
    values = {role: value for role, value in values.items() if value is not None}
    files = {role: _as_file(value, role) for role, value in values.items()}
    ready = {role: file for role, file in files.items() if file is not None}
    if index is not None and "notes" not in ready:
        values.pop("notes", None)
    if ready.keys() == values.keys():
        return GivenInputs(Inputs(**ready, index=index))
    with REMOVABLE:
        from sandscore.memory_inputs.written_inputs import written_inputs

    written, remarks = written_inputs(task, values, ready, index)
    return GivenInputs(Inputs(**written, index=index), tuple(remarks))


def _is_index(gold: "str | os.PathLike[str]") -> bool:
    is_index = part_of_a_room("gold_index.index_file:is_index")
    return bool(is_index and is_index(Path(gold)))


def given(value: Any, role: str, task: Task, notes: Any = None) -> InputFile:
    """One input, whose role is ``notes``, ``gold`` or ``predictions``."""
    inputs = given_inputs(task, **({"notes": notes} | {role: value})).inputs
    return inputs.given[role]


def several_golds(gold: Any, task: Task) -> tuple[Any, list[Any]]:
    """Gold as the first annotator's and that of others: a list of files, tables, lists of records or spans by note."""
    if isinstance(gold, list | tuple) and gold and all(_is_file(one) or _is_whole(one, task) for one in gold):
        return gold[0], list(gold[1:])
    return gold, []


def _is_file(value: Any) -> bool:
    return isinstance(value, str | os.PathLike | bytes | bytearray | memoryview) or hasattr(value, "read")


def _is_whole(value: Any, task: Task) -> bool:
    with REMOVABLE:
        from sandscore.memory_inputs.written_inputs import is_whole

    return is_whole(value, task)


def _as_file(value: Any, role: str) -> InputFile | None:
    """A value that is a file or a file's bytes already; None where it must be written as one."""
    if isinstance(value, NamedBytes):
        return value
    if isinstance(value, str):
        if value.lstrip()[:1] in {"[", "{"} and '"' in value:
            raise UsageFault(f"{role} is a str, which is taken as a path; give JSON as bytes: text.encode()")
        return value
    if isinstance(value, os.PathLike):
        return Path(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return NamedBytes(role, bytes(value))
    if hasattr(value, "read"):
        content = value.read()
        if not isinstance(content, bytes | bytearray):
            raise UsageFault(f"{role} is a file opened for text; open it for bytes: open(path, 'rb')")
        return NamedBytes(role, bytes(content))
    return None
