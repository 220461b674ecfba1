"""``sandscore queue init``: a folder made ready for submissions."""

from pathlib import Path
from typing import Any

import click

from sandscore.cli.options import format_option
from sandscore.records.errors import UsageFault

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("init")
@click.argument("folder", metavar="DIR", type=_FOLDER)
@click.option(
    "--challenge",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="challenge.toml: tasks, phases, quota, limits, and how scores become ranks.",
)
@click.option(
    "--data",
    multiple=True,
    metavar="[PHASE=]FOLDER",
    help="Where notes.json and the gold (date.json, …) lie; beside challenge.toml unless named. Repeatable.",
)
@click.option("--hipaa-map", metavar="FILE", help="Which labels HIPAA protects, in place of the bundled map.")
@click.option("--protocol", type=click.Choice(["service", "batch"]), help="How images are spoken to (service).")
@click.option("--complete", is_flag=True, help="A note without an entry makes predictions invalid.")
@click.option("--lease", type=float, metavar="SECONDS", help="After this a silent worker's submission is free (30).")
@click.option("--tries", type=int, metavar="N", help="Failures of ours in a row before an organiser is asked (5).")
@click.option("--first-wait", type=float, metavar="SECONDS", help="After the first failure; doubles each time (5).")
@format_option
def command(folder: Path, challenge: Path, data: tuple[str, ...], output_format: str, **chosen: Any) -> int:
    """Make DIR a queue. Gold and notes are checked; faults in them are said now (78).

    In a queue whose queue.sqlite is lost it makes a new one, which takes up every submission from the journal.
    DIR holds queue.sqlite, a copy of challenge.toml, settings.json (notices, leases, limits: edit it) and the
    secret salt of the challenge (taken from SANDSCORE_SALT where that is set).

    \b
    Example:
      sandscore queue init demo/queue --challenge gold/example/challenge.toml
    """
    import json

    from sandscore.queueing.embedded.database import FILE, create
    from sandscore.queueing.founding import data_folders, found, phases
    from sandscore.queueing.workspace import SETTINGS

    if (folder / SETTINGS).exists() and not (folder / FILE).exists():
        create(folder)
        click.echo(
            f"{folder}: {FILE} was gone and is made anew; what the journal holds will be evaluated again", err=True
        )
        return 0
    folders = data_folders(challenge, dict(_named(one) for one in data))
    workspace = found(folder, challenge, _settings(folders, chosen), create)
    tasks = {phase or "": workspace.tasks(phase) for phase in phases(workspace.challenge)}
    if output_format == "json":
        click.echo(json.dumps({"queue": str(folder), "challenge": workspace.challenge.challenge, "tasks": tasks}))
        return 0
    for phase, names in tasks.items():
        click.echo(
            f"{folder}: {workspace.challenge.challenge}{f', phase {phase}' if phase else ''}: {', '.join(names)}"
        )
    return 0


def _settings(folders: dict[str, str], chosen: dict[str, Any]) -> Any:
    from pydantic import ValidationError

    from sandscore.queueing.settings import Settings

    names = {"lease": "lease_seconds", "tries": "most_failures", "first_wait": "first_wait_seconds"}
    given = {names.get(name, name): value for name, value in chosen.items() if value is not None}
    if given.get("hipaa_map"):
        given["hipaa_map"] = str(Path(given["hipaa_map"]).resolve())
    try:
        return Settings(data=folders, **given)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        raise UsageFault(f"{first['loc'][0]}: {first['msg']}") from None


def _named(written: str) -> tuple[str, Path]:
    phase, separator, folder = written.partition("=")
    found = (phase, Path(folder)) if separator else ("", Path(written))
    if not found[1].is_dir():
        raise UsageFault(f"--data {written}: there is no such folder")
    return found
