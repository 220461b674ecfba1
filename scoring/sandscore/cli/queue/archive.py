"""``sandscore queue archive``: what everybody may have of a challenge, as one file to be deposited."""

from pathlib import Path
from typing import Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("archive")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="challenge-2026.zip")
@home_options
@format_option
def command(words: tuple[str, ...], output: Path, output_format: str, **where: Any) -> int:
    """Write boards, cards as the policy lets, phases, history and public log as a research crate (RO-Crate 1.1).

    Licence and citation are those of [publication] in challenge.toml. sandscore verify checks the file by itself,
    without gold: every file's hash, every board, and boards against the log.

    \b
    Example:
      sandscore queue archive demo/queue -o demo/challenge-2026.zip
    """
    import json

    from sandscore.queue.queue_archive import archive_queue

    place, _ = place_of(words, where, 0)
    written = archive_queue(place.workspace, output)
    said = {"files": written, "to": str(output)}
    click.echo(json.dumps(said) if output_format == "json" else f"{output}: {written:,} files")
    return 0
