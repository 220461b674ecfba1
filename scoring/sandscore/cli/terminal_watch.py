"""The person at the terminal, told of scoring as it goes on: a bar, what is wrong with the files, warnings."""

import click

from sandscore import api
from sandscore.base.terminal_text import printable
from sandscore.cli.problem_text import complain
from sandscore.cli.progress import bytes_read


def watch() -> "api.ReadingWatch":
    """All of it on standard error."""
    return api.ReadingWatch(bytes_read, complain, _warn)


def _warn(sentence: str) -> None:
    click.echo(f"warning: {printable(sentence)}", err=True)
