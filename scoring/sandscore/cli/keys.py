"""``sandscore keys``: keys to sign with."""

from pathlib import Path

import click

from sandscore import api


@click.group("keys")
def command() -> None:
    """Keys that sign boards and what witnesses say of them.

    \b
    Example:
      sandscore keys new example.org/board -o board.key
    """


@command.command("new")
@click.argument("url", metavar="NAME")
@click.option("-o", "--output", required=True, metavar="FILE", type=click.Path(path_type=Path), help="Of the secret.")
def new(url: str, output: Path) -> None:
    """Make a key, called NAME in every signature, and print its public half. An address of yours is a good name.

    The secret half is for its owner alone (0600). It is never written over another file, nor into a git repository.
    Publish the public half where your readers find it.

    \b
    Example:
      sandscore keys new example.org/board -o board.key
    """
    click.echo(api.make_key(url, output))
