"""``sandscore queue backup``: all of a queue in one file, taken while workers go on."""

from pathlib import Path
from typing import Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("backup")
@click.argument("words", metavar="[DIR] FILE", nargs=-1)
@home_options
@format_option
def command(words: tuple[str, ...], output_format: str, **where: Any) -> int:
    """Write all that a queue is made of to FILE: submissions, cards, boards, log, keys, notes and gold.

    Workers go on meanwhile. The file holds gold and secrets: it can be read by you alone; keep it so.

    \b
    Example:
      sandscore queue backup demo/queue demo/queue-backup.tar
    """
    import json

    from sandscore.queue.queue_backup import back_up_queue

    place, (target,) = place_of(words, where, 1)
    made = back_up_queue(place.workspace, place.row, Path(target))
    said = {"files": made.files, "bytes": made.bytes, "to": target}
    click.echo(json.dumps(said) if output_format == "json" else f"{target}: {made.files:,} files, {made.bytes:,} bytes")
    return 0
