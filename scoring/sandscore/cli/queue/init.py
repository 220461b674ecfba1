"""``sandscore queue init``: a folder made ready for submissions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.options import format_option

if TYPE_CHECKING:
    from sandscore.queue.settings import QueueSettings
    from sandscore.queue.workspace import Workspace

_FOLDER = click.Path(path_type=Path, file_okay=False)


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
@click.option("--protocol", type=click.Choice(["service", "batch"]), help="How images are spoken to (service).")
@click.option("--complete", is_flag=True, help="A note without an entry makes predictions invalid.")
@click.option("--lease", type=float, metavar="SECONDS", help="After this a silent worker's submission is free (30).")
@click.option("--tries", type=int, metavar="N", help="Failures of ours in a row before an organiser is asked (5).")
@click.option("--first-wait", type=float, metavar="SECONDS", help="After the first failure; doubles each time (5).")
@click.option(
    "--synapse", metavar="EVALUATION_ID", help="For a Synapse evaluation queue; with --state in place of DIR."
)
@click.option("--state", type=_FOLDER, metavar="DIR", help="With --synapse: the worker's local state, made here.")
@click.option(
    "--synapse-config",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="With --synapse: a .synapseConfig, in place of the one in the home directory; remembered.",
)
@click.option(
    "--synapse-option",
    "synapse_options",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --synapse: a setting for synapse.json, such as task=date or share_cards=true. Repeatable.",
)
@format_option
def command(
    folder: Path | None,
    challenge: Path,
    data: tuple[str, ...],
    synapse: str | None,
    state: Path | None,
    synapse_config: Path | None,
    synapse_options: tuple[str, ...],
    output_format: str,
    **chosen: Any,
) -> int:
    """Make DIR a queue. Gold and notes are checked; faults in them are said now (78).

    In a queue whose queue.sqlite is lost it makes a new one, which takes up every submission from the journal.
    DIR holds queue.sqlite, a copy of challenge.toml, settings.json (notices, leases, limits: edit it) and the
    secret salt of the challenge (taken from SANDSCORE_SALT where that is set).

    With --synapse it makes the local state of a worker: synapse.json in place of queue.sqlite. Synapse is asked
    whether the queue may be worked on. The other verbs then need no more than --state DIR.

    \b
    Example:
      sandscore queue init demo/queue --challenge gold/example/challenge.toml
    """
    from sandscore.queue.queue_setup import data_folders

    settings = _settings(data_folders(challenge, dict(_named(one) for one in data)), chosen)
    if synapse is not None:
        return _on_synapse(
            _one_folder(folder, state), challenge, settings, output_format, synapse, synapse_config, synapse_options
        )
    if folder is None or state or synapse_config or synapse_options:
        raise UsageFault("name the DIR to make, or a Synapse queue with --synapse and --state")
    return _here(folder, challenge, settings, output_format)


def _one_folder(folder: Path | None, state: Path | None) -> Path:
    chosen = state or folder
    if chosen is None or (state and folder):
        raise UsageFault("--synapse needs --state DIR, and no other folder")
    return chosen


def _on_synapse(root: Path, challenge: Path, settings: "QueueSettings", output_format: str, *which: Any) -> int:
    from sandscore.queue.homes.synapse.synapse_setup import found_state, options_of

    options = options_of(*which)
    _say(root, found_state(root, challenge, settings, options), output_format, synapse=options.evaluation)
    return 0


def _here(folder: Path, challenge: Path, settings: "QueueSettings", output_format: str) -> int:
    from sandscore.cli.queue.queue_place import synapse_queue
    from sandscore.queue.homes.sqlite.sqlite_database import FILE, create
    from sandscore.queue.queue_setup import found
    from sandscore.queue.workspace import SETTINGS

    if (evaluation := synapse_queue(folder)) is not None:
        raise UsageFault(f"{folder} is the state of the Synapse queue {evaluation} already")
    if (folder / SETTINGS).exists() and not (folder / FILE).exists():
        create(folder)
        click.echo(
            f"{folder}: {FILE} was gone and is made anew; what the journal holds will be evaluated again", err=True
        )
        return 0
    _say(folder, found(folder, challenge, settings, create), output_format)
    return 0


def _say(folder: Path, workspace: "Workspace", output_format: str, **more: Any) -> None:
    import json

    from sandscore.queue.queue_setup import phases

    tasks = {phase or "": workspace.tasks(phase) for phase in phases(workspace.challenge)}
    if output_format == "json":
        told = {"queue": str(folder), "challenge": workspace.challenge.challenge, "tasks": tasks}
        click.echo(json.dumps(told | more))
        return
    for phase, names in tasks.items():
        click.echo(
            f"{folder}: {workspace.challenge.challenge}{f', phase {phase}' if phase else ''}: {', '.join(names)}"
        )


def _settings(folders: dict[str, str], chosen: dict[str, Any]) -> "QueueSettings":
    from pydantic import ValidationError

    from sandscore.queue.settings import QueueSettings

    names = {"lease": "lease_seconds", "tries": "most_failures", "first_wait": "first_wait_seconds"}
    given = {names.get(name, name): value for name, value in chosen.items() if value is not None}
    if given.get("hipaa_map"):
        given["hipaa_map"] = str(Path(given["hipaa_map"]).resolve())
    try:
        return QueueSettings(data=folders, **given)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        raise UsageFault(f"{first['loc'][0]}: {first['msg']}") from None


def _named(written: str) -> tuple[str, Path]:
    phase, separator, folder = written.partition("=")
    found = (phase, Path(folder)) if separator else ("", Path(written))
    if not found[1].is_dir():
        raise UsageFault(f"--data {written}: there is no such folder")
    return found
