"""``sandscore witness``: a board recomputed by somebody else, who signs that it was."""

from pathlib import Path

import click

from sandscore import api


@click.command("witness")
@click.argument("board", type=click.Path(path_type=Path))
@click.option("--cards", required=True, metavar="DIR", type=click.Path(path_type=Path), help="Where its cards lie.")
@click.option("--sign", required=True, metavar="KEY", type=click.Path(path_type=Path), help="Your secret key.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Beside the board unless named.")
def command(board: Path, cards: Path, sign: Path, output: Path | None) -> None:
    """Recompute BOARD from the cards in DIR, and sign a statement that every number came out as printed.

    It names your key, this version, and each card by its SHA-256. Who trusts your key can then require it:
    sandscore verify BOARD --key YOURS --require attested. A board whose own cards are withheld, or are totals, is
    recomputed from the exact cards; sandscore queue export writes those of a queue.

    \b
    Example:
      $ sandscore witness leaderboard/date-final/board.json --cards leaderboard/cards --sign witness.key
    """
    from sandscore.cli.progress import bar

    click.echo(api.witness(board, cards, sign, output, testing=lambda: bar("testing pairs")))
