"""``sandscore queue restore``: the folder of a queue, out of its backup."""

from pathlib import Path

import click

from sandscore.cli.options import format_option


@click.command("restore")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@format_option
def command(source: Path, folder: Path, output_format: str) -> int:
    """Make DIR the queue that was backed up to FILE, on this machine or another; what it was it is again.

    Notes and gold go to DIR/private/restored, where the settings look for them from then on.

    \b
    Example:
      sandscore queue restore demo/queue-backup.tar demo/queue-restored
    """
    import json

    from sandscore.base.errors import MissingFile
    from sandscore.queue.queue_backup import restore_queue

    if not source.is_file():
        raise MissingFile(f"{source}: there is no such file")
    made = restore_queue(source, folder)
    said = {"files": made.files, "bytes": made.bytes, "queue": str(folder)}
    click.echo(json.dumps(said) if output_format == "json" else f"{folder}: {made.files:,} files, {made.bytes:,} bytes")
    return 0
