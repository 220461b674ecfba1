"""The profiles by name; a profile's module is imported when that profile is asked for."""

import importlib
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.base.errors import UsageFault, did_you_mean
from sandscore.measures.measure_syntax import Definition, Named, Scalar, parse

if TYPE_CHECKING:
    from sandscore.profiles.profile import Evaluate

CHALLENGE = "challenge"
_PACKAGE = "sandscore.profiles"
_MODULES = {
    "nlpsandbox-client": "nlpsandbox.nlpsandbox_profile",
    "i2b2": "i2b2.i2b2_profile",
    "presidio": "presidio.presidio_profile",
    "span-labels": "span_labels.span_labels_profile",
    "neleval": "neleval.neleval_profile",
    "semeval": "semeval.semeval_profile",
}
PROFILES = (CHALLENGE, *_MODULES)


class Profile(Struct, frozen=True):
    """A profile with its parameters settled, ready to evaluate."""

    value: Named
    settings: dict[str, Scalar]
    evaluate: "Evaluate"

    def __str__(self) -> str:
        return str(self.value)


def find_profile(written: str) -> Profile | None:
    """The profile behind ``name(key=value,…)``; None for our own."""
    name = written.partition("(")[0].strip()
    if name == CHALLENGE:
        parse(written, {CHALLENGE: Definition(CHALLENGE, "the contract's own measures")}, "profile")
        return None
    if name not in _MODULES:
        raise UsageFault(f"unknown profile '{name}'{did_you_mean(name, PROFILES)}; allowed: {', '.join(PROFILES)}")
    module = importlib.import_module(f"{_PACKAGE}.{_MODULES[name]}")
    definition: Definition = module.DEFINITION
    value = parse(written, {name: definition}, "profile")
    return Profile(value, definition.settle(value), module.evaluate)
