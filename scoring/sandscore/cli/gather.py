"""``sandscore gather``: one run of the runs of its shards."""

import json
from pathlib import Path

import click

from sandscore import api
from sandscore.cli.options import format_option


@click.command("gather")
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, file_okay=False), help="The whole run's folder."
)
@format_option
def command(folders: tuple[Path, ...], output: Path, output_format: str) -> int:
    """Make one run of the runs of all its shards (run --shard), as if one machine had done it.

    The predictions have the bytes of a run of all notes, in their order. Every shard has to be there once, finished,
    and of the same task, notes, image, limits and release. docs/hpc.md has a job array that does it.

    \b
    Example:
      sandscore run date --command "python3 submissions/template/server.py" \\
          --notes gold/example/notes.json --shard 1/2 -o shards/1
      sandscore run date --command "python3 submissions/template/server.py" \\
          --notes gold/example/notes.json --shard 2/2 -o shards/2
      sandscore gather shards/1 shards/2 -o run
    """
    done = api.gather(folders, output)
    runs = (done, *done.others)
    if output_format == "json":
        click.echo(json.dumps([one.record.model_dump(mode="json") for one in runs], indent=2))
    else:
        for one in runs:
            click.echo(f"{one.record.task}: {one.record.shards} shards, {one.record.notes:,} notes: {one.predictions}")
    return 0
