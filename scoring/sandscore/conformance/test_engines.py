"""Each engine, tried with every check of the suite, on a machine where it answers."""

from collections.abc import Iterator

import pytest

from sandscore.conformance.engine_suite import CHECKS, EngineBench
from sandscore.containers.engines.engine_registry import ENGINES, connected


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kind, *names = metafunc.config.getoption("kind") or ["engine"]
    chosen = (names or ENGINES.names) if kind == "engine" else ()
    metafunc.parametrize("bench", chosen, indirect=True)
    metafunc.parametrize("check", CHECKS)


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Iterator[EngineBench]:
    with connected(request.param) as engine:
        made = EngineBench(engine)
        try:
            yield made
        finally:
            made.close()


def test_engine(bench: EngineBench, check: str) -> None:
    CHECKS[check](bench)
