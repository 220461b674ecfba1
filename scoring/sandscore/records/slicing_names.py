"""The names of slicings: rules that need no file, and an organiser's files, called after themselves."""

from pathlib import Path

from sandscore.base.errors import did_you_mean

SLICE_RULES = ("label", "mention-length", "script", "note-type", "note-length", "site")
"""What data sets can be sliced by without a file."""


def slicing_name(asked: str) -> str:
    """What cards and boards call slices that were asked for so: the rule, or the file's name without its ending."""
    return asked if asked in SLICE_RULES else Path(asked).stem


def fault_of_slicing(asked: str) -> str | None:
    """Why this is neither a rule nor a file; None where it may be one."""
    if asked in SLICE_RULES or asked.endswith(".json"):
        return None
    near = did_you_mean(asked, SLICE_RULES)
    return f"unknown slices '{asked}'{near}; a JSON file or one of {', '.join(SLICE_RULES)}"
