"""The need for a cell: data that are not public are not put beside what teams hand in without a filter between them."""

from sandscore.base.diagnostics import warn
from sandscore.base.errors import OrganiserFault
from sandscore.containers.host_checks import Finding
from sandscore.queue.cell.system_call_filter import filter_in_force
from sandscore.records.challenge import Challenge
from sandscore.records.disclosure_policy import resolved

_MISSING = "this machine has no filter of system calls (seccomp) for the process that reads what teams hand in"
_CHECK = "reading cell"
_warned: list[str] = []


def require_cell(challenge: Challenge, phase: str | None, *, filtered: bool) -> None:
    """Stop where data that are not public would be beside bytes of a team; say it once where they are public."""
    if filtered:
        return
    named = next((one for one in challenge.phases if one.name == phase), None)
    policy = resolved(challenge, named)
    if not policy.notes_public or policy.gold_hidden:
        raise OrganiserFault(f"{_MISSING}; with hidden notes or gold nothing is read here. sandscore doctor says more")
    if not _warned:
        _warned.append(_MISSING)
        warn(f"{_MISSING}; notes and gold of this challenge are public, so it goes on with limits alone")


def require_cells(challenge: Challenge) -> None:
    """The same for every phase that takes submissions."""
    filtered = filter_in_force()
    for phase in challenge.phases:
        if not phase.ended:
            require_cell(challenge, phase.name, filtered=filtered)
    if not challenge.phases:
        require_cell(challenge, None, filtered=filtered)


def cell_finding() -> Finding:
    """For ``doctor``."""
    if filter_in_force():
        return Finding(_CHECK, "ok", "files of teams are read behind a filter of system calls")
    advice = "use Linux on x86_64 or aarch64 with CONFIG_SECCOMP_FILTER; hidden notes or gold are refused without it"
    return Finding(_CHECK, "note", _MISSING, advice)
