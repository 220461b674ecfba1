"""``sandscore queue export``: what the queue holds, as files; and a backup of the queue itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import Place, home_options, place_of
from sandscore.queue.homes.home_registry import our_homes

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome
    from sandscore.records.submission import Submission


_QUEUES = " or ".join(row.backs_up for row in our_homes() if row.backs_up)


@click.command("export")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="A folder, or a file with --backup."
)
@click.option("--backup", is_flag=True, help=f"Copy {_QUEUES} as it stands now, while workers go on.")
@home_options
@format_option
def command(words: tuple[str, ...], output: Path, backup: bool, output_format: str, **where: Any) -> int:
    """Write submissions.json, submissions.csv and the exact score cards by task: for organisers.

    \b
    Example:
      sandscore queue export demo/queue -o demo/export
    """
    import json

    place, _ = place_of(words, where, 0)
    if backup:
        place.row.back_up(place.workspace, output)
        written = 1
    else:
        written = _export(place, output, *place.asking(_kept))
    said = {"written": written, "to": str(output)}
    click.echo(
        json.dumps(said) if output_format == "json" else f"{output}: {written} file{'' if written == 1 else 's'}"
    )
    return 0


async def _kept(home: "QueueHome") -> "tuple[Sequence[Submission], dict[str, Path]]":
    """Submissions, and score cards by where they go."""
    from sandscore.queue.attempt_files import card_name

    found, cards = await home.submissions(), dict[str, Path]()
    for one in found:
        folder = await home.kept(one) if one.version else None
        for version in range(1, one.version + 1 if folder else 1):
            older = "" if version == one.version else f"v{version}/"
            cards[f"{one.task}/{older}{one.id}.json"] = (folder or Path()) / card_name(version)
    return found, cards


def _export(place: Place, output: Path, found: "Sequence[Submission]", cards: "Mapping[str, Path]") -> int:
    from sandscore.base.whole_files import write_synced
    from sandscore.cli.queue.submission_text import as_csv, as_json
    from sandscore.queue.queue_status import ranking_scores

    scores = ranking_scores(place.workspace, found)
    write_synced(output / "submissions.json", as_json(found, scores).encode())
    write_synced(output / "submissions.csv", as_csv(found, scores).encode())
    there = {name: card for name, card in cards.items() if card.exists()}
    for name, card in there.items():
        write_synced(output / "cards" / name, card.read_bytes())
    return 2 + len(there)
