"""``sandscore verify``: a board, recomputed from its cards."""

import json
from pathlib import Path

import click

from sandscore import api
from sandscore.cli.options import format_option


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

    verified = api.verify(board, cards, testing=lambda: bar("testing pairs"))
    click.echo(FORMATS[output_format](board, verified))


def _as_text(board: Path, verified: "api.Verified") -> str:
    return f"{board}: {verified.values} values recomputed from {verified.cards} cards, all as printed"


def _as_json(board: Path, verified: "api.Verified") -> str:
    return json.dumps({"board": str(board), "verified": True, "values": verified.values, "cards": verified.cards})


FORMATS = {"text": _as_text, "json": _as_json}
