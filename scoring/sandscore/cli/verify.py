"""``sandscore verify``: a board, recomputed from its cards or from their totals."""

import json
from pathlib import Path

import click

from sandscore import api
from sandscore.base.terminal_text import printable
from sandscore.cli.options import NearChoice, format_option


@click.command("verify")
@click.argument("board", type=click.Path(path_type=Path))
@click.argument("cards", metavar="[CARD]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--require",
    type=NearChoice(["recomputed"]),
    help="Exit 65 below this level.",
)
@format_option
def command(board: Path, cards: tuple[Path, ...], require: str | None, output_format: str) -> None:
    """Recompute a board from its score cards, or from the totals that are published of them.

    The cards lie beside the board or where it names them; CARD… are for a board that withholds which they are.
    Exit 65 and the first value that differs, if anything was touched. The level is said: recomputed where cards have a
    count for each note, totals where ratios, order, ranks and groups follow from counts and printed test results; what
    could not be recomputed, and what the board withholds, is named.

    \b
    Example:
      sandscore verify leaderboard/date-final/board.json
    """
    from sandscore.cli.progress import bar

    verified = api.verify(board, cards, testing=lambda: bar("testing pairs"), require=require)
    click.echo(FORMATS[output_format](board, verified))


def _as_text(board: Path, verified: "api.Verified") -> str:
    if verified.level == "recomputed":
        said = f"{board}: {verified.values} values recomputed from {verified.cards} cards, all as printed"
    else:
        cards = f" and {verified.cards} cards of totals" if verified.cards else ""
        said = f"{board}: {verified.values} values follow from its own counts{cards}, all as printed"
    lines = [said, f"level: {verified.level}"]
    for what, names in (("not recomputed", verified.not_recomputed), ("withheld", verified.withheld)):
        lines += [f"{what}: {', '.join(map(printable, names))}"] if names else []
    return "\n".join(lines)


def _as_json(board: Path, verified: "api.Verified") -> str:
    told = {"board": str(board), "verified": True, "values": verified.values, "cards": verified.cards}
    lists = {"not_recomputed": list(verified.not_recomputed), "withheld": list(verified.withheld)}
    return json.dumps(told | {"level": verified.level} | {name: names for name, names in lists.items() if names})


FORMATS = {"text": _as_text, "json": _as_json}
