"""``sandscore verify``: a board, recomputed from its cards."""

import json
from pathlib import Path

import click

from sandscore import api
from sandscore.base.terminal_text import printable
from sandscore.cli.options import NearChoice, format_option


@click.command("verify")
@click.argument("board", type=click.Path(path_type=Path))
@click.argument("cards", metavar="[CARD]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--require", type=NearChoice(["recomputed"]), help="Exit 65 if a measure could not be recomputed.")
@format_option
def command(board: Path, cards: tuple[Path, ...], require: str | None, output_format: str) -> None:
    """Recompute every number of a board from its score cards.

    The cards lie beside the board or where it names them; CARD… are for a board that hides which they are.
    Exit 65 and the first value that differs, if anything was touched. Measures without integer components can only
    be copied from a card, and are named.

    \b
    Example:
      sandscore verify leaderboard/date-final/board.json
    """
    from sandscore.cli.progress import bar

    verified = api.verify(board, cards, testing=lambda: bar("testing pairs"), require=require)
    click.echo(FORMATS[output_format](board, verified))


def _as_text(board: Path, verified: "api.Verified") -> str:
    said = f"{board}: {verified.values} values recomputed from {verified.cards} cards, all as printed"
    copied = ", ".join(map(printable, verified.not_recomputed))
    return f"{said}\nnot recomputed: {copied}" if copied else said


def _as_json(board: Path, verified: "api.Verified") -> str:
    told = {"board": str(board), "verified": True, "values": verified.values, "cards": verified.cards}
    copied = {"not_recomputed": list(verified.not_recomputed)} if verified.not_recomputed else {}
    return json.dumps(told | copied)


FORMATS = {"text": _as_text, "json": _as_json}
