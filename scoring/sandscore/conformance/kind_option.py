"""The pytest option that chooses what is tried: ``pytest --pyargs sandscore.conformance --kind home NAME``."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kind",
        nargs="+",
        default=[],
        metavar="WORD",
        help="For sandscore.conformance: a kind of row (home, engine, …) and names of rows; all of ours unless named.",
    )
