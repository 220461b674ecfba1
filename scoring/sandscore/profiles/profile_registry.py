"""The profiles by name: ours, and an installed package's where one is named. A module is imported when asked for."""

from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.base.own_rows import OWN_ROWS
from sandscore.base.registry import Registry
from sandscore.measures.measure_syntax import Named, ParameterisedRow, Scalar, parse

if TYPE_CHECKING:
    from sandscore.profiles.profile import Evaluate, OriginalScorer

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

    def __str__(self) -> str:
        return str(self.value)


def find_profile(written: str) -> Profile | None:
    """The profile behind ``name(key=value,…)``; None for our own."""
    value = parse(written, _row, "profile")
    if value.name == CHALLENGE:
        return None
    row = PROFILES.find(value.name)
    return Profile(value, row.settle(value), row.evaluate)


def _row(name: str) -> type[ParameterisedRow]:
    return ChallengeRules if name == CHALLENGE else PROFILES.find(name)
