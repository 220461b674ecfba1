"""Turns between teams, by hand and as a rule: a team's turn never depends on how much it has handed in."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sandscore.queue.fair_turns import Turns


def order(waiting: str, running: str = "", today: str = "") -> str:
    """Of teams called by a letter, the oldest submission first."""
    return "".join(Turns(Counter(running), Counter(today)).ordered(waiting, lambda team: team))


def test_turns_by_hand() -> None:
    assert order("aaab") == "abaa"
    assert order("aabb", running="a") == "baba"
    assert order("ab", today="a") == "ba"
    assert order("ab", running="b", today="aaaa") == "ab", "running counts before what was run"
    assert order("bbaac", running="ab", today="a") == "cbaba", "c, then b with one running and none today"


TEAMS = st.text("abcd", max_size=12)


@given(TEAMS, TEAMS, TEAMS)
def test_each_turn_is_of_a_team_with_the_fewest(waiting: str, running: str, today: str) -> None:
    """The rule itself, tried at every step against all that wait then."""
    left, now_running, now_today = list(enumerate(waiting)), Counter(running), Counter(today)
    turns = Turns(now_running, now_today).ordered(list(left), lambda one: one[1])
    for chosen in turns:
        fewest = min((now_running[team], now_today[team], age) for age, team in left)
        assert (now_running[chosen[1]], now_today[chosen[1]], chosen[0]) == fewest
        left.remove(chosen)
        now_running[chosen[1]] += 1
        now_today[chosen[1]] += 1
    assert not left
