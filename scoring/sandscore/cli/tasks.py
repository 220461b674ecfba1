"""``sandscore tasks``: the task table."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import hanging, terminal_width
from sandscore.cli.options import TaskName, format_option, own_task_options, own_tasks

if TYPE_CHECKING:
    from sandscore.task_table.task import Task
    from sandscore.task_table.task_list import ListedTask

    AnyTask = Task | ListedTask


@click.command("tasks")
@click.argument("task", required=False, type=TaskName())
@click.option("--schema", is_flag=True, help="Print the JSON Schema of TASK's annotation files.")
@own_task_options
@format_option
def command(task: "Task | None", schema: bool, output_format: str) -> None:
    """List what can be annotated, with each task's JSON array, label and measures; or how a file for TASK is written.

    \b
    Example:
      sandscore tasks
      sandscore tasks address
      sandscore tasks address --schema
    """
    from sandscore.task_table.task_list import listed_tasks

    if schema and task is None:
        raise UsageFault("--schema prints the schema of one task: name it")
    if schema and task is not None:
        from sandscore.task_table.task_schema import schema_text

        click.echo(schema_text(task), nl=False)
        return
    if task is not None and output_format == "text":
        click.echo(_form(task))
        return
    click.echo(FORMATS[output_format]([task] if task else [*listed_tasks(), *own_tasks().values()]))


def _row(task: "AnyTask") -> dict[str, object]:
    return {
        "id": task.id,
        "array": task.array,
        "label": task.label,
        "label_required": task.label_required,
        "path": task.path,
        "measures": list(task.measures),
    }


def _as_json(tasks: "Iterable[AnyTask]") -> str:
    import json

    return json.dumps([_row(task) for task in tasks], indent=2)


def _as_text(tasks: "Iterable[AnyTask]") -> str:
    limit = terminal_width()
    lines = [f"{'task':14} {'array':32} {'label':14} measures"]
    for task in tasks:
        label = (task.label or "-") + ("" if task.label_required or not task.label else "?")
        head, measures = f"{task.id:14} {task.array:32} {label:14} ", ", ".join(task.measures)
        narrow = limit is not None and len(head + measures) > limit
        lines += [head.rstrip(), hanging(" " * 15, measures, limit)] if narrow else [head + measures]
    lines.append("(a label with ? may be left out)")
    return "\n".join(lines)


def _form(task: "Task") -> str:
    """The smallest complete file, what may stand in it, and what to go on with."""
    from sandscore.cli.task_form import fields, next_commands, note_text, written

    limit = terminal_width()
    known = fields(task)
    wide = max(len(one.name) for one in known)
    lines = [
        f"The smallest file for the task {task.id}, about a note n1 that reads {note_text(task)!r}:",
        "",
        written(task),
    ]
    for required, head in ((True, "Required of every annotation:"), (False, "Optional:")):
        told = [hanging(f"  {one.name:{wide}}  ", one.told, limit) for one in known if one.required == required]
        lines += ["", head, *told] if told else []
    lines += ["", hanging("Measures: ", ", ".join(task.measures), limit), "", "Go on with:"]
    return "\n".join([*lines, *(f"  {command}" for command in next_commands(task))])


FORMATS = {"text": _as_text, "json": _as_json}
