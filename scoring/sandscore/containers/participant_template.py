"""A participant's starting point, and the images of the example submissions, which are made the same way."""

import json
import re
from pathlib import Path

from sandscore.base.bundled_content import submissions
from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import told, write_files
from sandscore.task_table.task import Starter, Task, find_task

_ANY_WORD = r"\b\w+\b"
_COPIED = ("Dockerfile", ".dockerignore", "annotate.py", "server.py", "test_annotate.py", "tool.json", "README.md")


PLAIN = "plain"
TEMPLATES: dict[str, tuple[str, ...]] = {
    PLAIN: (),
    "spacy": (),
    "huggingface": (),
    "presidio": (),
    "node": ("annotate.py", "server.py", "test_annotate.py"),
}
"""What a starting point is made with, and which files of the plain one it does without."""


def _files(template: str) -> dict[str, str]:
    """The plain files, with those of a template in their place or beside them."""
    folder = submissions() / "template"
    files = {name: (folder / name).read_text(encoding="utf-8") for name in _COPIED if name not in TEMPLATES[template]}
    own = submissions() / "templates" / template
    return files | {path.name: path.read_text(encoding="utf-8") for path in sorted(own.glob("*")) if path.is_file()}


def starting_point(task: Task, template: str = PLAIN) -> dict[str, str]:
    """The files of a working annotator for the task, with a first pattern to be improved on."""
    files = _files(template)
    start = task.starter or Starter(
        _ANY_WORD, tuple((name, _first(values)) for name, values in task.label_fields.items())
    )
    labels = _quoted(dict(start.labels))
    for name, program in files.items():
        if name.endswith(".py"):
            written = _set(program, PATTERN=_raw(start.pattern), LABELS=labels)
            files[name] = written.replace("textDateAnnotations", task.array)
        elif name.endswith(".js"):
            files[name] = _set(program, "const ", PATTERN=f"String.raw`{start.pattern}`;", LABELS=f"{labels};")
    files["README.md"] = _of_task(files["README.md"], task)
    files["tool.json"] = _of_task(files["tool.json"], task).replace("dates", f"the annotations of {task.id}")
    files["submission.json"] = _quoted({"team": "My Team", "task": task.id, "contact": "team@example.org"}) + "\n"
    return files


def write_starting_point(task: str | Task, folder: Path, template: str = PLAIN) -> list[str]:
    """Writes them where none of them is yet; the value names them."""
    files = starting_point(find_task(task), template)
    with told(folder, "{where}: cannot be written ({why})"):
        folder.mkdir(parents=True, exist_ok=True)
        if there := [name for name in files if (folder / name).exists()]:
            raise UsageFault(f"{folder}: {there[0]} is there already; nothing was written")
        write_files(folder, {name: content.encode() for name, content in files.items()})
    return sorted(files)


def example(name: str, task: Task) -> dict[str, str]:
    """The files of an example submission's image: the starting point with its annotator."""
    annotator = (submissions() / name / "annotate.py").read_text(encoding="utf-8")
    files = starting_point(task)
    tool = json.loads(files["tool.json"]) | {"name": name}
    return files | {"annotate.py": annotator, "tool.json": json.dumps(tool, indent=2) + "\n"}


def _set(program: str, declared: str = "", **values: str) -> str:
    """Replace the right-hand side of top-level assignments."""
    for name, value in values.items():
        program = re.sub(
            rf"^({declared}{name}(?:: [^=]+)?) = .*$",
            lambda m, value=value: f"{m[1]} = {value}",  # type: ignore[misc]
            program,
            flags=re.MULTILINE,
        )
    return program


def _first(values: tuple[str, ...]) -> str:
    return values[0] if values else "something"


def _raw(pattern: str) -> str:
    return f'r"{pattern}"'


def _quoted(value: object) -> str:
    return json.dumps(value)


def _of_task(text: str, task: Task) -> str:
    for written in ("`date`", "date-annotator", "run date", "evaluate date", "date.json"):
        text = text.replace(written, written.replace("date", task.id))
    return text
