"""The options of the conformance suites, known to pytest wherever sandscore is installed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: "pytest.Parser") -> None:
    """``--kind measure NAME…``: which rows to try; without names every one of ours, without a kind every kind."""
    group = parser.getgroup("sandscore", "conformance of measures, formats and profiles")
    group.addoption("--kind", nargs="+", default=[], metavar=("KIND", "NAME"), help="a kind of row, and names of rows")
