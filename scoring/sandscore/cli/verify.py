"""``sandscore verify``: a board, recomputed from its cards or their totals, and held against log and signatures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from sandscore import api
from sandscore.base.errors import UsageFault
from sandscore.cli.options import NearChoice, format_option

_FILE = click.Path(path_type=Path)


@click.command("verify")
@click.argument("board", type=_FILE)
@click.argument("cards", metavar="[CARD]...", nargs=-1, type=_FILE)
@click.option("--require", type=NearChoice(["recomputed", "attested"]), help="Exit 65 if this level is not reached.")
@click.option("--log", metavar="FOLDER", type=_FILE, help="The challenge's public log: entries.jsonl and checkpoint.")
@click.option("--checkpoint", metavar="FILE", type=_FILE, help="One of the log's from before: was it forked since?")
@click.option("--receipt", "receipts", multiple=True, metavar="FILE", type=_FILE, help="A team's; repeatable.")
@click.option("--statement", "statements", multiple=True, metavar="FILE", type=_FILE, help="A witness's; repeatable.")
@click.option("--key", "keys", multiple=True, metavar="KEY", help="A public key you trust, or a file of some.")
@click.option("--log-key", "log_keys", multiple=True, metavar="KEY", help="A key that the log must have had.")
@format_option
def command(board: Path, cards: tuple[Path, ...], require: str | None, output_format: str, **evidence: Any) -> None:
    """Recompute a board from its score cards, or from the totals that are published of them; or a whole archive.

    The cards lie beside the board or where it names them; CARD… are for a board that withholds which they are.
    Exit 65 and the first value that differs, if anything was touched. The level is said: recomputed where cards have a
    count for each note, totals where ratios, order, ranks and groups follow from counts and printed test results; what
    could not be recomputed, and what the board withholds, is named.

    With --log, a submission that was scored and is not on the board, a gold that changed without a line, and a log
    that was rewritten or forked are named. Signed statements beside the board are read; who signed counts only for
    keys that you name.

    The archive of a challenge (queue archive), or the folder it was unpacked into, is checked by itself: every file's
    hash, every board, and each board against the log in it.

    \b
    Example:
      sandscore verify leaderboard/date-final/board.json
    """
    from sandscore.cli.progress import bar

    given = api.Evidence(**evidence)
    if api.is_crate(board):
        if cards:
            raise UsageFault("an archive has its own cards: name none beside it")
        whole = api.check_archive(board, given, require=require, testing=lambda: bar("testing pairs"))
        click.echo(ARCHIVE_FORMATS[output_format](board, whole))
        return
    checked = api.check(board, cards, given, require=require, testing=lambda: bar("testing pairs"))
    click.echo(FORMATS[output_format](board, checked))


def _as_text(board: Path, checked: "api.Checked") -> str:
    from sandscore.base.terminal_text import printable

    verified = checked.verified
    if verified.level == "recomputed":
        said = f"{board}: {verified.values} values recomputed from {verified.cards} cards, all as printed"
    else:
        cards = f" and {verified.cards} cards of totals" if verified.cards else ""
        said = f"{board}: {verified.values} values follow from its own counts{cards}, all as printed"
    lines = [said, f"level: {checked.level}"]
    for what, names in (("not recomputed", verified.not_recomputed), ("withheld", verified.withheld)):
        lines += [f"{what}: {', '.join(map(printable, names))}"] if names else []
    return "\n".join([*lines, *_upheld(checked.upheld)])


def _upheld(upheld: "api.Upheld") -> Iterator[str]:
    from sandscore.base.terminal_text import printable

    if (log := upheld.log) is not None:
        newer = f"; line {log.newer + 1} is about a newer one" if log.newer is not None else ""
        yield f"log: line {log.line + 1} of {log.lines} is about this board{newer}; signed by {printable(log.key)}"
        changed = [f"{printable(name)} (line {at + 1})" for name, at in log.changed]
        if changed:
            yield f"changed since the opening: {', '.join(changed)}"
    for one in upheld.statements:
        known = "" if one.trusted else ", a key that you did not name (--key)"
        of = f" by {printable(one.sandscore)} from {one.cards} cards" if one.sandscore else ""
        yield f"{one.kind}{of}: {printable(one.key)}{known}"


def _as_json(board: Path, checked: "api.Checked") -> str:
    import json

    verified, log = checked.verified, checked.upheld.log
    told: dict[str, object] = {"board": str(board), "verified": True, "level": checked.level}
    told |= {"values": verified.values, "cards": verified.cards}
    if verified.not_recomputed:
        told["not_recomputed"] = list(verified.not_recomputed)
    if verified.withheld:
        told["withheld"] = list(verified.withheld)
    if log is not None:
        newer = None if log.newer is None else log.newer + 1
        changed = [{"name": name, "line": at + 1} for name, at in log.changed]
        told["log"] = {"key": log.key, "lines": log.lines, "line": log.line + 1, "newer": newer, "changed": changed}
    if checked.upheld.statements:
        told["statements"] = [
            {"kind": one.kind, "key": one.key, "trusted": one.trusted} for one in checked.upheld.statements
        ]
    return json.dumps(told)


def _archive_text(path: Path, checked: "api.CheckedArchive") -> str:
    boards = [_as_text(Path(name), one) for name, one in checked.boards.items()]
    return "\n".join([f"{path}: {checked.files} files, each as it was archived", *boards])


def _archive_json(path: Path, checked: "api.CheckedArchive") -> str:
    import json

    boards = [json.loads(_as_json(Path(name), one)) for name, one in checked.boards.items()]
    return json.dumps({"archive": str(path), "verified": True, "files": checked.files, "boards": boards})


FORMATS = {"text": _as_text, "json": _as_json}
ARCHIVE_FORMATS = {"text": _archive_text, "json": _archive_json}
