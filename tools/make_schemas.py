"""Writes everything that follows from the task table, ``task_table/tasks.toml``.

Run it after a change: ``make schemas``. Each task's JSON Schema, the list of tasks in the schema of a submission, and
``tasks.json``, the table as programs read it: TOML would cost every start milliseconds; and the page on prediction
files. A test holds all of it.
"""

import json
import tomllib
from pathlib import Path

import msgspec

from sandscore.cli.task_form import fields, note_text, written
from sandscore.task_table.task import Task
from sandscore.task_table.task_schema import schema_text

ROOT = Path(__file__).resolve().parent.parent
TABLE = "scoring/sandscore/task_table/tasks.toml"
READ = "scoring/sandscore/task_table/tasks.json"
SUBMISSION = "schemas/submission.schema.json"
PAGE = "docs/predictions.md"
PAGE_HEAD = """# Prediction files

Generated from the task table by `make schemas`; a test validates every example. `sandscore tasks TASK` prints the part
of one task.

## The form

A JSON array with one entry for each note. An entry names its note and holds a list of annotations, whose name is the
task's. For the task date, and a note `n1` that reads `{note}`:

```json
{example}
```

- **The note** is named in `annotationSource`. Of a path only what follows the last `/` counts, so
  `dataset/d/fhirStores/s/fhir/Note/n1` is `n1` too. A note has one entry; one without annotations has an empty list.
- **`start`** is how many characters stand before the text: the first character is at 0. Characters are Unicode code
  points, as Python counts them: an emoji is one, an accented letter one (or two where it is written as two), a line end
  of Windows two.
- **`length`** is how many characters the text has. There is no `end`.
- **`text`** is exactly what stands there: case, white space and quotation marks as they are in the note.
- **`confidence`** runs from 0 to 100, not to 1.
- **Labels** that come from a list are taken in any case.
- Order does not matter. Properties that are not listed here are ignored, and said to be.

Two other ways to write the same are read as well: an entry a line (JSON Lines), and for a single note the bare object
`{{"{array}": […]}}`. Files are UTF-8 without a byte order mark; what ends in `.gz` or `.zst` is unpacked. Other
people's formats are read with `--from` ([formats.md](formats.md)).

`sandscore validate date predictions.json --notes notes.json` says everything that is wrong with a file. Where one cause
explains it, as where offsets begin at 1 or an end was written for a length, it says so first, and
`--fix -o mended.json` writes a file in which it is undone. The cause is looked for among the first 200,000 texts that
do not stand where they are said to; a mended file is proven whole, or not written.

## The tasks

Each table has the properties of an annotation; the JSON Schema is what `sandscore tasks TASK --schema` prints.
"""
PAGE_TASK = """
### {id}

The list is `{array}`. The smallest complete file, for a note `n1` that reads `{note}`:

```json
{example}
```

| property | | what it holds |
|---|---|---|
{rows}
"""


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
    made[PAGE] = predictions_page(rows)
    return made


def predictions_page(rows: list[Task]) -> str:
    """The form of prediction files, in words and examples."""
    parts = [PAGE_HEAD.format(note=note_text(rows[0]), example=written(rows[0]), array=rows[0].array)]
    for task in rows:
        table = [
            f"| `{one.name}` | {'required' if one.required else 'optional'} | {one.told} |" for one in fields(task)
        ]
        parts.append(
            PAGE_TASK.format(
                id=task.id, array=task.array, note=note_text(task), example=written(task), rows="\n".join(table)
            )
        )
    return "".join(parts)


def outdated(root: Path = ROOT) -> list[str]:
    """The files of a checkout that are not what its table says."""
    made = made_files(root)
    return [
        name for name, text in made.items() if not (root / name).is_file() or (root / name).read_text("utf-8") != text
    ]


if __name__ == "__main__":
    for name, text in made_files().items():
        (ROOT / name).write_text(text, encoding="utf-8")
