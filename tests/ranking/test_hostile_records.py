"""Cards, boards and configurations with any leaf replaced by anything: a result or a sentence, never a crash."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_numbers import up_to
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ranking_cards import card_content, drawn_rows

from sandscore.base.errors import SandscoreError
from sandscore.challenges.challenge_reading import parse_challenge
from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import card_entry, read_card
from sandscore.records.ranking_rules import BoardRules
from sandscore.verification.board_verification import verify

pytestmark = pytest.mark.slow

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)
OFTEN = settings(deadline=None, max_examples=up_to(150), suppress_health_check=list(HealthCheck))


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value, inner ones and leaves."""
    found = [path] if path else []
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        found += paths(inner, (*path, key))
    return found


def spoilt(data: st.DataObject, value: Any) -> str:
    """The JSON text with one to three places replaced, removed or renamed."""
    copy = json.loads(json.dumps(value))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(paths(copy) or [()]))
        if not path:
            break
        inner = copy
        for step in path[:-1]:
            inner = inner[step]
        if data.draw(st.booleans()):
            inner[path[-1]] = data.draw(JSON)
        else:
            del inner[path[-1]]
    return json.dumps(copy)


def fault_of(work: Callable[[], object]) -> SandscoreError | None:
    """The sentence that came of it, if any; everything else is a crash and fails the test."""
    try:
        work()
    except SandscoreError as fault:
        return fault
    return None


CARD = card_content("a", {"token": drawn_rows(0.8, 6, 1), "instance_strict": drawn_rows(0.7, 6, 1)})


@OFTEN
@given(st.data())
def test_cards(data: st.DataObject) -> None:
    other = card_entry(json.dumps(card_content("b", drawn_rows(0.7, 6, 2))).encode(), "b.json")
    content = spoilt(data, CARD).encode()
    rules = BoardRules(resamples=100, randomisations=99)
    fault = fault_of(lambda: rank([card_entry(content, "a.json"), other], rules))
    assert fault is None or (fault.exit_code in (2, 65) and str(fault).isprintable())


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    for name in "ab":
        (folder / f"{name}.json").write_text(json.dumps(card_content(name, drawn_rows(0.8, 6, ord(name)))))
    entries = [read_card(folder / f"{name}.json") for name in "ab"]
    (folder / "board.json").write_text(as_json(rank(entries, BoardRules(resamples=100, randomisations=99))))
    return folder / "board.json"


@OFTEN
@given(st.data())
def test_boards(board: Path, data: st.DataObject) -> None:
    """Whatever is changed is noticed, unless it only says the same in other words."""
    honest = json.loads(board.read_text())
    text = spoilt(data, honest)
    path = board.with_name("spoilt.json")
    path.write_text(text)
    fault = fault_of(lambda: verify(path))
    if fault is None:
        changed = json.loads(text)
        resamples = [BoardRules.model_validate(one["config"]).resamples for one in (changed, honest)]
        assert changed | {"config": 0} == honest | {"config": 0}
        assert resamples[0] == resamples[1]
    else:
        assert fault.exit_code in (2, 65, 66)


@OFTEN
@given(st.text(max_size=80) | st.from_regex(r"(\[\[?[a-z.]{0,9}\]?\]?\n|[a-z_.]{1,9} = [0-9\"a-z{}\[\]]{0,6}\n){0,6}"))
def test_configurations(text: str) -> None:
    fault = fault_of(lambda: parse_challenge(text.encode("utf-8", "surrogatepass"), "challenge.toml"))
    assert fault is None or (fault.exit_code == 78 and "challenge.toml" in str(fault))
