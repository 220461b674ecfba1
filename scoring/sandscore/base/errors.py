"""Errors a user can cause, each with the exit code the command line promises for it."""


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
