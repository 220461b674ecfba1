"""The list of registries that an organiser allows, and what a team may name there.

An entry is a host, with a port where it has one, and the beginning of a repository's name. With ``{team}`` in it each
team names only what is its own. Nobody but the hosts of the list is ever contacted.
"""

import re
from collections.abc import Iterable, Sequence
from ipaddress import ip_address

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.records.challenge import REGISTRY_HOST, REPOSITORY_PART

_REFERENCE = (
    rf"(?P<host>{REGISTRY_HOST})/(?P<repository>{REPOSITORY_PART}(/{REPOSITORY_PART})*)"
    r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?@(?P<digest>sha256:[0-9a-f]{64})"
)
_LOCAL = r"sha256:[0-9a-f]{64}"
_TEAM = "{team}"


def for_team(entries: Iterable[str], team: str) -> tuple[str, ...]:
    """What the entries allow this team; those with ``{team}`` nothing to one whose name cannot be part of a
    repository's: names are never bent, since two might then be one."""
    fits = re.fullmatch(REPOSITORY_PART, team) is not None
    return tuple(entry.replace(_TEAM, team) for entry in entries if fits or _TEAM not in entry)


def parsed(reference: str) -> tuple[str, str, str] | None:
    """Host, repository and digest; None where the reference does not name all three."""
    matched = re.fullmatch(_REFERENCE, reference)
    return (matched["host"], matched["repository"], matched["digest"]) if matched else None


def is_local(reference: str) -> bool:
    """Whether it is the id of an image on the engine, which is in no registry."""
    return re.fullmatch(_LOCAL, reference) is not None


def covered(reference: str, prefixes: Iterable[str]) -> bool:
    """Whether the reference lies under one of the prefixes."""
    named = parsed(reference)
    return named is not None and any(f"{named[0]}/{named[1]}/".startswith(f"{prefix}/") for prefix in prefixes)


def require_allowed(reference: str, listed: Sequence[str] | None, home: Sequence[str], team: str) -> None:
    """Refuses an image that the team may not name. ``listed`` is what the challenge says; where it says nothing
    it is what the ``home`` of the queue has, and without that only images that are on the engine already."""
    entries = home if listed is None else listed
    if listed is None and not home:
        if not is_local(reference):
            raise OrganiserFault(
                f"'{reference}' is in a registry, and this queue asks none; challenge.toml names those that it may "
                'ask: [images] registries = ["registry.example.org/{team}"]'
            )
        return
    if covered(reference, prefixes := for_team(entries, team)):
        return
    if prefixes:
        raise ParticipantFault(f"'{reference}' is not an image that this team may name: {', '.join(prefixes)}/…")
    if entries:
        raise ParticipantFault(
            f"the team's name cannot be part of a repository's ({', '.join(entries)}); "
            "the organiser must say in [images.teams] what it is called there"
        )
    raise ParticipantFault("this challenge takes no images")


def hosts(prefixes: Iterable[str]) -> frozenset[str]:
    """Those that may be contacted."""
    return frozenset(prefix.partition("/")[0] for prefix in prefixes)


def on_this_machine(host: str) -> bool:
    """A loopback address, which speaks HTTP without TLS, as engines have it; all others do not."""
    name = host.partition(":")[0]
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
