"""The rows that the conformance suites run over: a test that takes a ``measure`` is run for each of them."""

from pathlib import Path
from typing import Any

import pytest

from sandscore.base.registry import Registry
from sandscore.formats import FORMATS
from sandscore.measures.measure_registry import MEASURES
from sandscore.perturbation import PERTURBATIONS
from sandscore.profiles.profile_registry import PROFILES

KINDS: dict[str, Registry[Any]] = {registry.kind: registry for registry in (MEASURES, FORMATS, PROFILES, PERTURBATIONS)}
OTHERS = ("home", "engine")
"""Kinds whose suites choose their rows themselves."""


def pytest_configure(config: pytest.Config) -> None:
    """A kind or row that does not exist ends the run before it begins."""
    kind, *names = config.getoption("--kind") or [None]
    if kind is not None and kind not in (*KINDS, *OTHERS):
        raise pytest.UsageError(f"unknown kind '{kind}'; allowed: {', '.join((*KINDS, *OTHERS))}")
    for name in names if kind in KINDS else ():
        KINDS[kind].find(name)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The suites of other kinds are not even read."""
    asked = next(iter(config.getoption("--kind")), None)
    others = {f"test_{kind}s.py" for kind in (*KINDS, *OTHERS) if kind != asked}
    return True if asked is not None and collection_path.name in others else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asked, *names = metafunc.config.getoption("--kind") or [None]
    for kind, registry in KINDS.items():
        if kind in metafunc.fixturenames:
            metafunc.parametrize(kind, names if names and kind == asked else registry.names)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of several kinds only the one that was asked for."""
    asked = next(iter(config.getoption("--kind")), None)
    if asked is not None:
        items[:] = [item for item in items if asked in getattr(getattr(item, "callspec", None), "params", {})]
