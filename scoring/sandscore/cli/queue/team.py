"""``sandscore queue team``: who may hand in over HTTP, and by which tokens."""

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.order_results import who_option
from sandscore.cli.queue.queue_place import home_options, place_of

if TYPE_CHECKING:
    from sandscore.intake.team_registry import TeamRegistry


@click.group("team")
def command() -> None:
    """Teams that hand in over HTTP, once sandscore serve runs.

    \b
    Example:
      sandscore queue team add demo/queue tidewater --mail lab@example.org
    """


@command.command("add")
@click.argument("words", metavar="[DIR] NAME", nargs=-1)
@click.option("--mail", metavar="ADDRESS", help="Told of start and end of what the team hands in.")
@who_option
@home_options
def add(words: tuple[str, ...], mail: str | None, who: str | None, **where: Any) -> int:
    """Let a team hand in.

    \b
    Example:
      sandscore queue team add demo/queue tidewater --mail lab@example.org
    """
    name = _changing(words, where, lambda registry, team: registry.add(team, mail, _me(who)))
    click.echo(f"{name} may hand in; sandscore queue team token gives its people a token each")
    return 0


@command.command("remove")
@click.argument("words", metavar="[DIR] NAME", nargs=-1)
@click.option("--erase", is_flag=True, help="Mail, tokens, files and logs go; boards call it by a pseudonym.")
@who_option
@home_options
def remove(words: tuple[str, ...], erase: bool, who: str | None, **where: Any) -> int:
    """Let a team hand in no more, and void its tokens. What it handed in stays, unless the team is erased.

    What is erased is gone from this folder. Keep DIR/private/erased.jsonl, which names nobody, beside your backups:
    queue restore --erased makes them forget too.

    \b
    Example:
      sandscore queue team remove demo/queue tidewater
    """
    if not erase:
        name = _changing(words, where, lambda registry, team: registry.remove(team, _me(who)))
        click.echo(f"{name} may hand in no more")
        return 0
    from sandscore.intake.team_erasure import erase_team
    from sandscore.queue.queue_layout import owner_only
    from sandscore.queue.worker.board_refresh import Follower

    place, (team,) = place_of(words, where, 1)
    with owner_only():
        pseudonym = erase_team(place.workspace, team)
    place.asking(lambda home: Follower(home, place.workspace).refresh())
    click.echo(f"erased; what stays is called {pseudonym}")
    return 0


@command.command("token")
@click.argument("words", metavar="[DIR] NAME", nargs=-1)
@click.option("--for", "person", metavar="PERSON", help="Whose token it is.")
@click.option("--revoke", metavar="ID", help="Void this token, named by what stands before its dot.")
@who_option
@home_options
def token(words: tuple[str, ...], person: str | None, revoke: str | None, who: str | None, **where: Any) -> int:
    """Print a new token of a team, once, or void one. Only its hash is kept.

    \b
    Example:
      sandscore queue team token demo/queue tidewater --for "Ada Lovelace"
    """
    from sandscore.base.errors import UsageFault

    if (person is None) == (revoke is None):
        raise UsageFault("either --for PERSON or --revoke ID")
    if revoke is not None:
        _changing(words, where, lambda registry, team: registry.revoke(team, revoke, _me(who)))
        click.echo(f"{revoke} is worth nothing any more")
        return 0
    made: list[str] = []
    _changing(words, where, lambda registry, team: made.append(registry.issue(team, str(person), _me(who))))
    click.echo(made[0])
    return 0


@command.command("list")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option("--history", is_flag=True, help="All that was done to teams and tokens, oldest first.")
@home_options
@format_option
def listing(words: tuple[str, ...], history: bool, output_format: str, **where: Any) -> int:
    """List teams with their tokens (not the secrets), or the history of both.

    \b
    Example:
      sandscore queue team list demo/queue
    """
    from sandscore.intake.team_registry import TeamRegistry, as_json, as_text

    place, _ = place_of(words, where, 0)
    registry = TeamRegistry(place.workspace)
    found = registry.history() if history else registry.teams()
    click.echo(as_json(found) if output_format == "json" else as_text(found))
    return 0


@command.command("import")
@click.argument("words", metavar="[DIR] FILE", nargs=-1)
@who_option
@home_options
def importing(words: tuple[str, ...], who: str | None, **where: Any) -> int:
    """Add the teams of a CSV (team, mail, person), and print it again with the token of each person.

    \b
    Example:
      sandscore queue team import demo/queue teams.csv
    """
    import csv
    import sys

    from sandscore.base.terminal_text import disarmed
    from sandscore.intake.team_registry import TeamRegistry, import_teams, read_teams
    from sandscore.queue.queue_layout import owner_only

    place, (file,) = place_of(words, where, 1)
    given = read_teams(Path(file))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["team", "person", "token"])
    with owner_only():
        for one, made in import_teams(TeamRegistry(place.workspace), given, _me(who)):
            writer.writerow([disarmed(one.team), disarmed(one.person or ""), made or ""])
    return 0


def _changing(words: tuple[str, ...], where: Any, change: "Callable[[TeamRegistry, str], None]") -> str:
    """One order to the registry of the queue that the words name; the team, fit for a terminal."""
    from sandscore.base.terminal_text import one_line
    from sandscore.intake.team_registry import TeamRegistry
    from sandscore.queue.queue_layout import owner_only

    place, (team,) = place_of(words, where, 1)
    with owner_only():
        change(TeamRegistry(place.workspace), team)
    return one_line(team)


def _me(who: str | None) -> str:
    try:
        return who or getpass.getuser()
    except (KeyError, OSError):  # an account without a name
        return "unknown"
