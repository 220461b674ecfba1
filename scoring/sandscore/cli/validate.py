"""``sandscore validate``: everything that is wrong with one annotation file."""

import sys
from typing import TYPE_CHECKING, Any

import click

from sandscore import api
from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.cli.options import challenge_option, foreign_options, format_option, task_argument, task_file_option

if TYPE_CHECKING:
    from sandscore.task_table.task import Task


@click.command("validate")
@task_argument
@click.argument("file")
@click.option("--notes", metavar="FILE", help="The notes; without them texts and offsets are not compared.")
@click.option("--index", metavar="FILE", help="A gold index in the place of the notes, or made of them.")
@foreign_options
@click.option("--complete", is_flag=True, help="A note without an entry is an error, not a warning.")
@click.option(
    "--fix", is_flag=True, help="Undo the cause that is named and write the result to -o, if it is then right."
)
@click.option("-o", "--output", metavar="FILE", help="Where --fix writes (- for standard output).")
@challenge_option("challenge.toml: tasks of its own, and whether notes may be quoted.", kept=True)
@task_file_option
@format_option
def command(task: "Task", file: str, notes: str | None, output: str | None, output_format: str, **options: Any) -> int:
    """Check FILE (or - for standard input) against TASK's schema and, with --notes, against the notes.

    Says first what explains most of its problems, then lists every problem. Exits 0 if the file is valid, 65 if it is
    not. With --fix that is said of the mended file.

    \b
    Example:
      sandscore validate date gold/example/date.json --notes gold/example/notes.json
    """
    from sandscore.cli.problem_text import FORMATS, Cure, mended_text, watch

    fix, challenge, complete, index = (options.pop(name) for name in ("fix", "challenge", "complete", "index"))
    how = api.ForeignReading(**options)
    if fix != (output is not None):
        raise UsageFault("--fix and -o belong together: --fix -o mended.json")
    if fix and index is not None:
        raise UsageFault("--fix reads the notes again and again: give --notes in place of --index")
    if output is not None:
        made = api.mend_file(task, file, output=output, notes=notes, complete=complete, how=how)
        if output == "-":
            sys.stdout.buffer.write(made.content)
        click.echo(mended_text(made, output, output_format), err=output == "-")
        return ParticipantFault.exit_code if made.found.errors else 0
    found = api.validate_file(
        task, file, notes=notes, index=index, complete=complete, how=how, challenge=challenge, watch=watch()
    )
    cure = Cure(task, file, notes, plain=not any(options.values()))
    click.echo(FORMATS[output_format](found, cure=cure))
    return ParticipantFault.exit_code if found.errors else 0
