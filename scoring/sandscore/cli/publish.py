"""``sandscore publish``: boards to a folder of pages."""

import json
from pathlib import Path

import click

from sandscore import api
from sandscore.cli.options import format_option


@click.command("publish")
@click.argument("boards", metavar="BOARD...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", "site", required=True, metavar="SITE", type=click.Path(path_type=Path), help="A folder."
)
@click.option(
    "--challenge", type=click.Path(path_type=Path), help="challenge.toml: title, citation, what may be shown."
)
@click.option("--cards", is_flag=True, help="Publish the score cards even though they name notes.")
@click.option("--sign", metavar="KEY", type=click.Path(path_type=Path), help="Sign each board with this secret key.")
@format_option
def command(
    boards: tuple[Path, ...], site: Path, challenge: Path | None, cards: bool, sign: Path | None, output_format: str
) -> None:
    """Make a leaderboard of BOARDs: pages that need no server and no network, CSV, JSON and Markdown.

    Boards that differ in their age alone are versions of one board, oldest first. Publishing again replaces only what
    changed, and a reader never meets half a site. Score cards that hide which notes they speak of are published
    with the boards, so that anybody can recompute them.

    \b
    Example:
      sandscore publish leaderboard/date-final/board.json leaderboard/address-final/board.json --cards -o site
    """
    written = api.publish(boards, site, challenge=challenge, cards=cards, sign=sign)
    click.echo(FORMATS[output_format](site / "index.html", written))


def _as_text(start: Path, written: "api.Written") -> str:
    changed, removed = len(written.changed), len(written.removed)
    return f"{written.files} files, {changed} written, {removed} removed; open {start}"


def _as_json(start: Path, written: "api.Written") -> str:
    listed = {"changed": list(written.changed), "removed": list(written.removed)}
    return json.dumps({"page": str(start), "files": written.files, **listed})


FORMATS = {"text": _as_text, "json": _as_json}
