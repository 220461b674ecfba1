"""The person at the terminal, told of scoring as it goes on: a bar, what is wrong with the files, warnings."""

import click

from sandscore import api
from sandscore.cli.problem_text import complain, printable
from sandscore.cli.progress import bytes_read


def watch() -> "api.Watch":
    """All of it on standard error."""
    return api.Watch(bytes_read, complain, _warn)


def _warn(sentence: str) -> None:
    click.echo(f"warning: {printable(sentence)}", err=True)
