"""``sandscore demo``: the whole flow on the bundled example challenge."""

import json
import shlex
import shutil
from pathlib import Path

import click

from sandscore import api
from sandscore.base.bundled_content import example_gold, submissions
from sandscore.base.errors import UsageFault

MARK = ".sandscore-demo"


@click.command("demo")
@click.option("-o", "--output", default="demo", show_default=True, metavar="DIR", help="Where everything is written.")
@click.option("--images", is_flag=True, help="Run the example images (make images builds them), not their predictions.")
def command(output: str, images: bool) -> None:
    """Score, rank, publish, verify; submit six examples to a queue, end in a leaderboard page; then with hidden notes.

    Every command is shown as you would type it. A DIR that an earlier demo made is made anew.

    \b
    Example:
      sandscore demo -o demo
    """
    folder = _fresh(Path(output))
    queue = folder / "queue"
    gold = example_gold()
    for name in ("date-good", "date-weak"):
        _say("validate", "date", submissions() / name / "predictions.json", "--notes", gold / "notes.json")
    for name in ("date-good", "date-weak"):
        _say(
            "score", "date", "--gold", gold / "date.json", "--notes", gold / "notes.json", "--team", name,
            "--predictions", submissions() / name / "predictions.json", "-o", folder / f"{name}.card.json",
        )  # fmt: skip
    cards = [folder / f"{name}.card.json" for name in ("date-good", "date-weak")]
    _say("rank", *cards, "-o", folder / "board.json")
    _say("publish", folder / "board.json", "-o", folder / "site")
    _say("verify", folder / "board.json")
    _say("queue", "init", queue, "--challenge", gold / "challenge.toml")
    for manifest in sorted(submissions().glob("*/submission.json")):
        _submit(queue, manifest, images)
    _say("queue", "work", queue, "--once")
    _say("queue", "list", queue)
    _hidden(folder, gold)
    click.echo(f"\nOpen the leaderboard: {(queue / 'public' / 'site' / 'index.html').resolve().as_uri()}")
    _door(queue)


def _hidden(folder: Path, practice: Path) -> None:
    """A challenge whose notes nobody may see: what a team gets there, and what that tells of them."""
    from sandscore.cli.queue.queue_place import queue_in
    from sandscore.queue.hidden_demo import make_hidden_demo

    click.echo("\nThe same with hidden notes: what a team is told of a good file, and of one that does not fit them.")
    made, queue = make_hidden_demo(folder / "hidden", practice), folder / "hidden-queue"
    _say("queue", "init", queue, "--challenge", made.challenge)
    for team, predictions in (("Weak", made.weak), ("Shifted", made.shifted)):
        _say("queue", "submit", queue, "--task", "date", "--team", team, "--predictions", predictions)
    _say("queue", "work", queue, "--once")
    for one in queue_in(queue, {}).asking(lambda home: home.submissions()):
        _say("queue", "show", queue, one.id, "--team-view")
    _say("queue", "disclosed", queue)


def _door(queue: Path) -> None:
    """A team that may hand in over HTTP; its token is printed, for this is a demo."""
    click.echo("\nThe same queue with a door for teams:")
    _say("queue", "team", "add", queue, "visitors")
    _say("queue", "team", "token", queue, "visitors", "--for", "you")
    click.echo(
        f"\nStart the server, open http://127.0.0.1:8000/team and log in with that token:\n"
        f"$ sandscore serve {shlex.quote(str(queue))}\nand in another terminal, for what you hand in:\n"
        f"$ sandscore queue work {shlex.quote(str(queue))}"
    )


def _fresh(folder: Path) -> Path:
    """An empty folder; only what an earlier demo made is removed."""
    if folder.exists() and not (folder / MARK).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageFault(f"{folder} is there already and was not made by a demo; choose another with -o")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    return folder


def _submit(queue: Path, manifest: Path, images: bool) -> None:
    told = json.loads(manifest.read_text(encoding="utf-8"))
    what = (
        ("--image", api.built_image(f"sandscore-example/{manifest.parent.name}"))
        if images
        else ("--predictions", manifest.parent / told["predictions"])
    )
    _say("queue", "submit", queue, "--task", told["task"], "--team", told["team"], *what)


def _say(*words: object) -> None:
    """Run a command as a user would, showing it first."""
    from sandscore.cli.main import cli

    written = [str(word) for word in words]
    click.echo(f"\n$ sandscore {shlex.join(written)}")
    if code := cli.main(args=written, prog_name="sandscore", standalone_mode=False):
        raise SystemExit(code)
