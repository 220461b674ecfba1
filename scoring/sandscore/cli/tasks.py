"""``sandscore tasks``: the task table."""

import json

import click

from sandscore.base.terminal_text import hanging, terminal_width
from sandscore.cli.options import format_option
from sandscore.task_table.task import TASKS, Task


@click.command("tasks")
@format_option
def command(output_format: str) -> None:
    """List what can be annotated, with each task's JSON array, label and measures.

    \b
    Example:
      sandscore tasks
    """
    click.echo(FORMATS[output_format]())


def _row(task: Task) -> dict[str, object]:
    return {
        "id": task.id,
        "array": task.array,
        "label": task.label,
        "label_required": task.label_required,
        "path": task.path,
        "measures": list(task.measures),
    }


def _as_json() -> str:
    return json.dumps([_row(task) for task in TASKS.values()], indent=2)


def _as_text() -> str:
    limit = terminal_width()
    lines = [f"{'task':14} {'array':32} {'label':14} measures"]
    for task in TASKS.values():
        label = (task.label or "-") + ("" if task.label_required or not task.label else "?")
        head, measures = f"{task.id:14} {task.array:32} {label:14} ", ", ".join(task.measures)
        narrow = limit is not None and len(head + measures) > limit
        lines += [head.rstrip(), hanging(" " * 15, measures, limit)] if narrow else [head + measures]
    lines.append("(a label with ? may be left out)")
    return "\n".join(lines)


FORMATS = {"text": _as_text, "json": _as_json}
