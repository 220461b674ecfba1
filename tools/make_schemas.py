"""Writes everything that follows from the task table, ``task_table/tasks.toml``.

Run it after a change: ``make schemas``. Each task's JSON Schema, the list of tasks in the schema of a submission, and
``tasks.json``, the table as programs read it: TOML would cost every start milliseconds. A test holds all of it.
"""

import json
import tomllib
from pathlib import Path

import msgspec

from sandscore.task_table.task import Task
from sandscore.task_table.task_schema import schema_text

ROOT = Path(__file__).resolve().parent.parent
TABLE = "scoring/sandscore/task_table/tasks.toml"
READ = "scoring/sandscore/task_table/tasks.json"
SUBMISSION = "schemas/submission.schema.json"


def table_rows(text: str) -> list[Task]:
    """The rows of a table; a property that no task has is an error."""
    tables = tomllib.loads(text)["tasks"]
    strange = {f"{name}.{key}" for name, table in tables.items() for key in table.keys() - set(Task.__struct_fields__)}
    if strange:
        raise SystemExit(f"{TABLE}: no task has {', '.join(sorted(strange))}")
    return [msgspec.convert({"id": name, **table}, Task) for name, table in tables.items()]


def made_files(root: Path = ROOT) -> dict[str, str]:
    """Every file that follows from the table of a checkout, by its path there."""
    rows = table_rows((root / TABLE).read_text(encoding="utf-8"))
    submission = json.loads((root / SUBMISSION).read_text(encoding="utf-8"))
    submission["properties"]["task"]["enum"] = [task.id for task in rows]
    made = {f"schemas/{task.id}.schema.json": schema_text(task) for task in rows}
    made[SUBMISSION] = json.dumps(submission, indent=2) + "\n"
    made[READ] = json.dumps(msgspec.to_builtins(rows), indent=1, ensure_ascii=False) + "\n"
    return made


def outdated(root: Path = ROOT) -> list[str]:
    """The files of a checkout that are not what its table says."""
    made = made_files(root)
    return [
        name for name, text in made.items() if not (root / name).is_file() or (root / name).read_text("utf-8") != text
    ]


if __name__ == "__main__":
    for name, text in made_files().items():
        (ROOT / name).write_text(text, encoding="utf-8")
