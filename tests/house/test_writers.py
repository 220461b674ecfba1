"""Files are written by one module: nobody else opens a file to write it whole, or moves one into its place."""

import ast
from collections.abc import Iterator
from pathlib import Path

from source_trees import MODULES, nodes_of

WRITER = "whole_files"
APPENDING = {
    "submission_journal": "a line is added to what is there",
    "notices": "a line is added to what is there",
    "public_log": "a line is added to what is there",
    "board_refresh": "a lock is held on the file",
    "team_registry": "a line is added to what is there",
    "order_history": "a line is added to what is there",
}
STREAMED = {"synapse_files": "bytes from the network, into a part of the writer's"}
IN_MEMORY = {
    "firing_range": "a lure in a temporary folder, gone with it",
    "podman_service": "the owner and log of a service in its temporary folder, gone with it",
}
KERNELS = {
    "control_groups": "the kernel's switches, which are no files",
    "memory_kills": "the kernel's switches, which are no files",
    "sandbox_launcher": "a process without the package, in mounts of its own",
}
OF_IMAGES = {
    "image_roots": "into a folder that is an image only once it is renamed, and an archive on its way there",
    "image_builder": "into a folder that is an image only once it is renamed",
}
CALLS = {"write_text", "write_bytes", "mkstemp", "NamedTemporaryFile", "copyfile", "copy2"}


def opened_to(call: ast.Call) -> str:
    """The mode of an ``open``: ``r`` where it says none."""
    given = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
    modes = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return next((mode for mode in modes if mode and set(mode) <= set("rwxabt+")), "r")


def writes(module: str) -> Iterator[str]:
    for node in nodes_of(module):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in CALLS | {"open"}:
            continue
        over = ast.unparse(node.func)
        if name in CALLS and not over.startswith("shutil.copyfile"):
            yield f"{over} in line {node.lineno}"
        if name == "open" and over.partition(".")[0] not in ("os", "tarfile", "webbrowser"):
            mode = opened_to(node)
            if set(mode) & set("wxa+") and not any(word.arg == "fileobj" for word in node.keywords):
                descriptor = node.args and ast.unparse(node.args[0]) in ("reader", "writer")
                if not descriptor:
                    yield f"{over} to {mode} in line {node.lineno}"


def test_nobody_else_writes_files() -> None:
    """The suites that plug-ins are held to are tests."""
    excused = {WRITER, *APPENDING, *STREAMED, *IN_MEMORY, *KERNELS, *OF_IMAGES}
    for module in (module for module in MODULES if not module.startswith("conformance/")):
        found = list(writes(module))
        if Path(module).stem in excused:
            assert found, f"{module}: no exception for who needs none"
        else:
            assert not found, f"{module}: {', '.join(found)}; sandscore.base.whole_files writes files"
