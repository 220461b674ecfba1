"""``sandscore verify``: a board, recomputed from its cards."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore.base.errors import ParticipantFault
from sandscore.cli.options import format_option

if TYPE_CHECKING:
    from sandscore.ranking.verification import Verified


@click.command("verify")
@click.argument("board", type=click.Path(path_type=Path))
@click.argument("cards", metavar="[CARD]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--require", type=click.Choice(["recomputed"]), help="Exit 65 if a measure could not be recomputed.")
@format_option
def command(board: Path, cards: tuple[Path, ...], require: str | None, output_format: str) -> None:
    """Recompute every number of a board from its score cards.

    The cards lie beside the board or where it names them; CARD… are for a board that hides which they are.
    Exit 65 and the first value that differs, if anything was touched. A measure of an installed package needs
    that package only if it has no integer components; then it is told as not recomputed.

    \b
    Example:
      sandscore verify leaderboard/date-final/board.json
    """
    from sandscore.cli.progress import bar
    from sandscore.ranking.verification import verify

    with bar("testing pairs") as advance:
        verified = verify(board, cards, advance)
    if require and verified.not_recomputed:
        raise ParticipantFault(f"{board}: not recomputed: {_named(verified)}")
    click.echo(FORMATS[output_format](board, verified))


def _named(verified: "Verified") -> str:
    from sandscore.cli.problem_text import printable

    return ", ".join(map(printable, verified.not_recomputed))


def _as_text(board: Path, verified: "Verified") -> str:
    said = f"{board}: {verified.values} values recomputed from {verified.cards} cards, all as printed"
    return f"{said}\nnot recomputed: {_named(verified)}" if verified.not_recomputed else said


def _as_json(board: Path, verified: "Verified") -> str:
    told = {"board": str(board), "verified": True, "values": verified.values, "cards": verified.cards}
    copied = {"not_recomputed": list(verified.not_recomputed)} if verified.not_recomputed else {}
    return json.dumps(told | copied)


FORMATS = {"text": _as_text, "json": _as_json}
