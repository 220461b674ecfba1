"""What is released can be made by the room of the gate alone."""

import ast
from pathlib import Path

import pytest

from sandscore.records.released_view import LedgerLine, Released

ROOM = Path(__file__).resolve().parents[2] / "scoring" / "sandscore"


def test_nobody_makes_one() -> None:
    with pytest.raises(TypeError):
        Released("anything", LedgerLine(what="log"), object())


def test_nobody_outside_names_what_makes_them() -> None:
    """Neither the seal nor the helpers that hold it are imported, or reached as attributes, outside the room."""
    makers = {"SEAL", "passed", "withheld"}
    for path in ROOM.rglob("*.py"):
        if path.parent.name == "disclosure":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and "released" in (node.module or ""):
                assert not makers & {name.name for name in node.names}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "Released", path


def test_what_a_child_released_is_unpacked_where_children_are_spoken_to() -> None:
    """Nobody else may take a view that came from elsewhere for one that passed the gate."""
    wire = [path for path in ROOM.rglob("*.py") if _names(path, "unpack")]
    assert [path.relative_to(ROOM).as_posix() for path in wire] == ["queue/children/child_messages.py"]


def _names(path: Path, maker: str) -> bool:
    """Whether a module imports it, by whatever name, or reaches it in another module."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if "import *" in text or maker in text else ():
        if isinstance(node, ast.ImportFrom) and "sandscore" in (node.module or ""):
            if {maker, "*"} & {name.name for name in node.names}:
                return True
        elif isinstance(node, ast.Attribute) and node.attr == maker and ast.unparse(node.value) != "struct":
            return True
    return False
