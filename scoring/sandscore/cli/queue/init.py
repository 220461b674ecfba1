"""``sandscore queue init``: a folder made ready for submissions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.options import click_options, format_option
from sandscore.cli.verb_group import fill_in
from sandscore.queue.homes.home_registry import our_homes

if TYPE_CHECKING:
    from sandscore.queue.queue_setup import QueueMade

_FOLDER = click.Path(path_type=Path, file_okay=False)
_SETTINGS = {
    "hipaa_map": "hipaa_map",
    "class_map": "class_map",
    "protocol": "protocol",
    "complete": "complete",
    "lease": "lease_seconds",
    "tries": "most_failures",
    "first_wait": "first_wait_seconds",
}
"""Option: the setting it gives a value to."""


@click.command("init")
@click.argument("folder", metavar="[DIR]", type=_FOLDER, required=False)
@click.option(
    "--challenge",
    required=True,
    type=click.Path(path_type=Path),
    help="challenge.toml: tasks, phases, quota, limits, and how scores become ranks.",
)
@click.option(
    "--data",
    multiple=True,
    metavar="[PHASE=]FOLDER",
    help="Where notes.json and the gold (date.json, …) lie; beside challenge.toml unless named. Repeatable.",
)
@click.option("--hipaa-map", metavar="FILE", help="Which labels HIPAA protects, in place of the bundled map.")
@click.option("--class-map", metavar="FILE", help="Which labels identify a patient, in place of the task table's.")
@click.option("--protocol", type=click.Choice(["service", "batch"]), help="How images are spoken to (service).")
@click.option("--complete", is_flag=True, help="A note without an entry makes predictions invalid.")
@click.option("--lease", type=float, metavar="SECONDS", help="After this a silent worker's submission is free (30).")
@click.option("--tries", type=int, metavar="N", help="Failures of ours in a row before an organiser is asked (5).")
@click.option("--first-wait", type=float, metavar="SECONDS", help="After the first failure; doubles each time (5).")
@click_options(option for row in our_homes() for option in row.init_options)
@click.option("--home", metavar="NAME", help="A home of queues that an installed package brings, in place of ours.")
@click.option(
    "--home-option",
    "home_options",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --home: what that home wants to be told. Repeatable.",
)
@format_option
def command(
    folder: Path | None,
    challenge: Path,
    data: tuple[str, ...],
    home: str | None,
    output_format: str,
    **chosen: Any,
) -> int:
    """Make DIR a queue. Gold and notes are checked; faults in them are said now (78).

    {homes}

    \b
    Example:
      sandscore queue init demo/queue --challenge gold/example/challenge.toml
    """
    from sandscore.queue.homes.home_registry import make_queue
    from sandscore.queue.queue_setup import NewQueue, data_folders
    from sandscore.queue.settings import chosen_settings

    of_homes = {name: chosen.pop(name) for name in [*chosen] if name not in _SETTINGS}
    if of_homes["home_options"] and home is None:
        raise UsageFault("--home-option goes with --home")
    folders = data_folders(challenge, dict(_named(one) for one in data))
    settings = chosen_settings(folders, {_SETTINGS[name]: value for name, value in chosen.items()})
    _say(make_queue(home, NewQueue(folder, challenge, settings, of_homes)), output_format)
    return 0


fill_in(command, homes="\n\n".join(row.making for row in our_homes()))


def _say(made: "QueueMade", output_format: str) -> None:
    import json

    from sandscore.base.terminal_text import printable
    from sandscore.queue.queue_setup import phases

    folder, workspace = made.root, made.workspace
    if workspace is None:
        click.echo(f"{folder}: {made.mended}", err=True)
        return
    tasks = {phase or "": workspace.tasks(phase) for phase in phases(workspace.challenge)}
    if output_format == "json":
        told = {"queue": str(folder), "challenge": workspace.challenge.challenge, "tasks": tasks}
        click.echo(json.dumps(told | dict(made.facts) | ({"said": list(made.said)} if made.said else {})))
        return
    for phase, names in tasks.items():
        click.echo(
            f"{folder}: {workspace.challenge.challenge}{f', phase {phase}' if phase else ''}: {', '.join(names)}"
        )
    for sentence in made.said:
        click.echo(printable(sentence))


def _named(written: str) -> tuple[str, Path]:
    phase, separator, folder = written.partition("=")
    found = (phase, Path(folder)) if separator else ("", Path(written))
    if not found[1].is_dir():
        raise UsageFault(f"--data {written}: there is no such folder")
    return found
