"""The profiles by name: ours, and an installed package's where one is named. A module is imported when asked for."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sandscore.base.own_rows import OWN_ROWS
from sandscore.base.registry import Registry
from sandscore.measures.measure_syntax import Named, ParameterisedRow, Scalar, parse

if TYPE_CHECKING:
    from sandscore.profiles.profile import Evaluate, EvaluateColumns, EvaluateWritten, OriginalScorer

GROUP = "sandscore.profiles"
CHALLENGE = "challenge"


class ChallengeRules(ParameterisedRow):
    """Our own rules."""

    name = CHALLENGE
    description = "the contract's own measures"


PROFILES: "Registry[OriginalScorer]" = Registry(
    "profile", GROUP, "sandscore.profiles.profile:OriginalScorer", OWN_ROWS[GROUP], beside=(CHALLENGE,)
)


class Profile(Struct, frozen=True):
    """A profile with its parameters settled, ready to evaluate."""

    value: Named
    settings: dict[str, Scalar]
    evaluate: "Evaluate"
    evaluate_columns: "EvaluateColumns"
    evaluate_written: "EvaluateWritten"
    own_files: Callable[[Any], bool]
    file_names: dict[str, str]
    """The files that parameters name."""

    def __str__(self) -> str:
        return str(self.value)


def find_profile(written: str) -> Profile | None:
    """The profile behind ``name(key=value,…)``; None for our own."""
    value = parse(written, _row, "profile")
    if value.name == CHALLENGE:
        return None
    row = PROFILES.find(value.name)
    settings = row.settle(value)
    named = {p.name: str(settings[p.name]) for p in row.parameters if p.file and settings[p.name]}
    return Profile(value, settings, row.evaluate, row.evaluate_columns, row.evaluate_written, row.own_files, named)


def _row(name: str) -> type[ParameterisedRow]:
    return ChallengeRules if name == CHALLENGE else PROFILES.find(name)
