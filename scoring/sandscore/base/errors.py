"""Errors a user can cause, each with the exit code the command line promises for it."""

from collections.abc import Iterable


class SandscoreError(Exception):
    """A fault with a sentence for the person who can mend it, and the exit code of the command line.

    >>> try:
    ...     ss.validate("date", "no-such-file.json")
    ... except ss.SandscoreError as fault:
    ...     print(fault.exit_code, fault)
    66 no-such-file.json: there is no such file
    """

    exit_code = 70


class UsageFault(SandscoreError):
    """The command itself is wrong: an unknown measure, a contradiction between options."""

    exit_code = 2


class ParticipantFault(SandscoreError):
    """The participant's data or container is at fault."""

    exit_code = 65


class MissingFile(SandscoreError):
    """A named file is missing or is not a readable file."""

    exit_code = 66


class InfrastructureFault(SandscoreError):
    """Something around us failed; trying again may help."""

    exit_code = 75


class OrganiserFault(SandscoreError):
    """The challenge's own configuration or gold is at fault."""

    exit_code = 78


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """The allowed name that was probably meant."""
    from difflib import get_close_matches

    known = {one.lower(): one for one in allowed}
    return next((known[one] for one in get_close_matches(name.lower(), known, 1)), None)


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """A near miss, for the middle of a sentence; nothing where no name is near."""
    near = nearest(name, allowed)
    return f" (did you mean {near}?)" if near else ""
