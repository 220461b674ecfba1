"""``sandscore publish``: boards to a folder of pages."""

import json
from pathlib import Path
from typing import Any

import click

from sandscore import api
from sandscore.cli.options import NearChoice, format_option


@click.command("publish")
@click.argument("boards", metavar="BOARD...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", "site", required=True, metavar="SITE", type=click.Path(path_type=Path), help="A folder."
)
@click.option(
    "--challenge", type=click.Path(path_type=Path), help="challenge.toml: title, citation, what may be shown."
)
@click.option(
    "--cards",
    type=NearChoice(["none", "totals", "notes"]),
    help="Let out less of the score cards than the boards' policy does.",
)
@click.option(
    "--url", metavar="URL", help="Where the site will lie: adds preview images, a feed, badges and citations."
)
@click.option("--sign", metavar="KEY", type=click.Path(path_type=Path), help="Sign each board with this secret key.")
@format_option
def command(
    boards: tuple[Path, ...],
    site: Path,
    challenge: Path | None,
    cards: Any,
    url: str | None,
    sign: Path | None,
    output_format: str,
) -> None:
    """Make a leaderboard of BOARDs: pages that need no server and no network, CSV, JSON and Markdown.

    Boards that differ in their age alone are versions of one board, oldest first. Publishing again replaces only what
    changed, and a reader never meets half a site. What is shown of scores, and whether score cards are published with
    their counts for each note, as totals, or not at all, follows from the policy that a board carries ([data] in
    challenge.toml); a board ranked without a challenge goes with totals.

    \b
    Example:
      sandscore publish leaderboard/date-final/board.json leaderboard/address-final/board.json -o site
    """
    written = api.publish(boards, site, challenge=challenge, cards=cards, sign=sign, url=url)
    click.echo(FORMATS[output_format](site / "index.html", written))


def _as_text(start: Path, written: "api.Written") -> str:
    changed, removed = len(written.changed), len(written.removed)
    return f"{written.files} files, {changed} written, {removed} removed; open {start}"


def _as_json(start: Path, written: "api.Written") -> str:
    listed = {"changed": list(written.changed), "removed": list(written.removed)}
    return json.dumps({"page": str(start), "files": written.files, **listed})


FORMATS = {"text": _as_text, "json": _as_json}
