"""``sandscore run``: an annotator over notes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore import api
from sandscore.base.errors import UsageFault
from sandscore.cli.options import TaskName, TaskNames, format_option
from sandscore.cli.running_options import annotator_options, following, named_annotator, run_options

if TYPE_CHECKING:
    from sandscore.task_table.task import Task


@click.command("run")
@click.argument("task", required=False, type=TaskName())
@click.option("--tasks", type=TaskNames(), metavar="A,B,…", help="Several tasks, asked of one start of a service.")
@annotator_options
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, file_okay=False), help="The run's folder."
)
@run_options
@click.option(
    "--shard",
    metavar="I/N",
    help="Every N-th note from the I-th on, one of N machines' share; see gather.",
)
@format_option
def command(
    task: "Task | None", tasks: "tuple[Task, ...] | None", output: Path, output_format: str, **options: Any
) -> int:
    """Run an annotator over notes and keep predictions.json, run.json and log.txt.

    The container has no network, a read-only file system but for /tmp, no rights, and the limits that run.json
    lists. An answer that is not valid ends the run; it is kept in refused.json. A run that is stopped, or runs out of
    time, keeps what was answered in partial.json, and --resume goes on with it. With --tasks each task has a folder
    of its own in the run's.

    \b
    Example:
      sandscore run date --command "python3 submissions/template/server.py" \\
          --notes gold/example/notes.json -o run
    """
    if (task is None) == (tasks is None):
        raise UsageFault("name what to look for: a TASK, or several with --tasks")
    first, *others = tasks or ((task,) if task else ())
    kind, reference = named_annotator(options)
    from sandscore.cli.running_options import FORMATS, report

    plan = api.RunPlan(task=first, kind=kind, reference=reference, others=tuple(others), **options)
    done = api.run_to_folder(plan, output, following)
    if output_format == "json" and others:
        import json

        click.echo(json.dumps([one.record.model_dump(mode="json") for one in (done, *done.others)], indent=2))
    else:
        for one in (done, *done.others):
            if others:
                click.echo(f"task          {one.record.task}")
            click.echo(FORMATS[output_format](one.record, one.folder))
    report(done)
    return max(one.exit_code for one in (done, *done.others))
