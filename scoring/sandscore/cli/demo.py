"""``sandscore demo``: the whole flow on the bundled example challenge."""

import json
from pathlib import Path

import click

from sandscore.content import example_gold, submissions

_TASKS = ("date", "person-name", "address")


@click.command("demo")
@click.option("-o", "--output", default="demo", show_default=True, metavar="DIR", help="Where everything is written.")
def command(output: str) -> None:
    """Validate, score and rank the bundled submissions, and publish their leaderboard.

    \b
    Example:
      sandscore demo -o demo
    """
    folder = Path(output)
    for task in _TASKS:
        for submission in sorted(submissions().glob(f"{task}-*")):
            _score(task, submission, folder / "cards" / f"{submission.name}.json")
    boards = [_rank(task, folder) for task in _TASKS]
    _publish(boards, folder / "site")
    click.echo(f"\nOpen the leaderboard: {(folder / 'site' / 'index.html').resolve().as_uri()}")


def _score(task: str, submission: Path, card: Path) -> None:
    manifest = json.loads((submission / "submission.json").read_text(encoding="utf-8"))
    card.parent.mkdir(parents=True, exist_ok=True)
    gold = example_gold()
    predictions = submission / manifest["predictions"]
    _say("validate", task, predictions, "--notes", gold / "notes.json")
    _say(
        "score", task, "--gold", gold / f"{task}.json", "--predictions", predictions, "--notes", gold / "notes.json",
        "--team", manifest["team"], "--submission", submission.name, "--dataset", "example", "-o", card,
    )  # fmt: skip


def _rank(task: str, folder: Path) -> Path:
    board = folder / f"board-{task}.json"
    _say("rank", *sorted((folder / "cards").glob(f"{task}-*.json")), "-o", board)
    return board


def _publish(boards: list[Path], site: Path) -> None:
    _say("publish", *boards, "-o", site)


def _say(verb: str, *arguments: object) -> None:
    """Run a command as a user would, showing it first."""
    from sandscore.cli.main import cli

    words = [verb, *map(str, arguments)]
    click.echo(f"\n$ sandscore {' '.join(f'{word!r}' if ' ' in word else word for word in words)}")
    code = cli.main(args=words, prog_name="sandscore", standalone_mode=False)
    if code:
        raise SystemExit(code)
