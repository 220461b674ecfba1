"""What holds for every test: a machine may be slow, which is no fault of an example."""

import gc

import pytest
from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("patient")

gc.disable()  # while thousands of tests are collected, of which nothing is garbage


def pytest_collection_finish() -> None:
    """Thousands of tests are no garbage: no collection looks through them again, in this process and in its forks."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def near_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's children are no processes; see near_children.py."""
    from near_children import keep_near

    keep_near(monkeypatch)
