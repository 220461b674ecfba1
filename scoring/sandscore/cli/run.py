"""``sandscore run``: an annotator over notes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from sandscore import api
from sandscore.base.errors import UsageFault
from sandscore.cli.options import format_option, task_argument
from sandscore.cli.running_options import following, run_options

if TYPE_CHECKING:
    from sandscore.task_table.task import Task


@click.command("run")
@task_argument
@click.option("--image", help="A Docker image, isolated and limited.")
@click.option("--url", help="A server somebody runs: http://host:port. Not isolated by us.")
@click.option("--command", "local", help="A local command that serves on the port in $PORT. Not isolated: development.")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, file_okay=False), help="The run's folder."
)
@run_options
@format_option
def command(
    task: "Task",
    image: str | None,
    url: str | None,
    local: str | None,
    output: Path,
    output_format: str,
    **options: Any,
) -> int:
    """Run an annotator over notes and keep predictions.json, run.json and log.txt.

    The container has no network, a read-only file system but for /tmp, no rights, and the limits that run.json
    lists. An answer that is not valid ends the run; it is kept in refused.json.

    \b
    Example:
      sandscore run date --command "python3 submissions/template/server.py" \\
          --notes gold/example/notes.json -o run
    """
    named: tuple[tuple[Literal["image", "url", "command"], str | None], ...]
    named = ("image", image), ("url", url), ("command", local)
    given = [(kind, value) for kind, value in named if value is not None]
    if len(given) != 1:
        raise UsageFault("name what to run: exactly one of --image, --url and --command")
    kind, reference = given[0]
    from sandscore.cli.running_options import FORMATS, report

    done = api.run_to_folder(api.RunPlan(task=task, kind=kind, reference=reference, **options), output, following)
    click.echo(FORMATS[output_format](done.record, output))
    report(done.record)
    return done.exit_code
