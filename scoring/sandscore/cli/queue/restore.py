"""``sandscore queue restore``: the folder of a queue, out of its backup."""

from pathlib import Path

import click

from sandscore.cli.options import format_option


@click.command("restore")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--erased", type=click.Path(path_type=Path), metavar="FILE", help="Teams erased since: erased.jsonl.")
@format_option
def command(source: Path, folder: Path, erased: Path | None, output_format: str) -> int:
    """Make DIR the queue that was backed up to FILE, on this machine or another; what it was it is again.

    Notes and gold go to DIR/private/restored, where the settings look for them from then on.

    \b
    Example:
      sandscore queue restore demo/queue-backup.tar demo/queue-restored
    """
    import json

    from sandscore.base.errors import MissingFile
    from sandscore.intake.team_erasure import read_erasures, replay_erasures
    from sandscore.queue.queue_backup import restore_queue
    from sandscore.queue.queue_layout import owner_only
    from sandscore.queue.workspace import open_workspace

    if not source.is_file():
        why = "is a directory, not a file" if source.is_dir() else "there is no such file"
        raise MissingFile(f"{source}: {why}")
    given = None if erased is None else read_erasures(erased, required=True)
    made = restore_queue(source, folder)
    if given is not None:
        with owner_only():
            replay_erasures(open_workspace(folder), given)
    said = {"files": made.files, "bytes": made.bytes, "queue": str(folder)}
    click.echo(json.dumps(said) if output_format == "json" else f"{folder}: {made.files:,} files, {made.bytes:,} bytes")
    return 0
