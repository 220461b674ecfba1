"""``sandscore verify``: a board, recomputed from its cards."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore.cli.options import format_option

if TYPE_CHECKING:
    from sandscore.ranking.verification import Verified


@click.command("verify")
@click.argument("board", type=click.Path(path_type=Path))
@click.argument("cards", metavar="[CARD]...", nargs=-1, type=click.Path(path_type=Path))
@format_option
def command(board: Path, cards: tuple[Path, ...], output_format: str) -> None:
    """Recompute every number of a board from its score cards.

    The cards lie beside the board or where it names them; CARD… are for a board that hides which they are.
    Exit 65 and the first value that differs, if anything was touched.

    \b
    Example:
      sandscore verify leaderboard/date-final/board.json
    """
    from sandscore.cli.progress import bar
    from sandscore.ranking.verification import verify

    with bar("testing pairs") as advance:
        verified = verify(board, cards, advance)
    click.echo(FORMATS[output_format](board, verified))


def _as_text(board: Path, verified: "Verified") -> str:
    return f"{board}: {verified.values} values recomputed from {verified.cards} cards, all as printed"


def _as_json(board: Path, verified: "Verified") -> str:
    return json.dumps({"board": str(board), "verified": True, "values": verified.values, "cards": verified.cards})


FORMATS = {"text": _as_text, "json": _as_json}
