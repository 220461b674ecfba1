"""What a team is told of faulty predictions: no clue about the note, errors first, at most a hundred."""

from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.disclosure.team_reasons import LISTED, public_problems, reason_of, told, without_clues
from sandscore.records.problem import Problem


def collected(*codes: str) -> ProblemCollector:
    found = ProblemCollector("predictions")
    for number, code in enumerate(codes):
        found.add(code, (number, 0), f"/{number}", "n", f"{code} {number}")
    return found


def test_a_sentence_ends_where_it_begins_to_speak_of_the_note() -> None:
    assert without_clues("'May' does not stand at 3; it stands at 7") == "'May' does not stand at 3"
    assert without_clues("4-9 is past the end, which has 6 characters") == "4-9 is past the end"
    assert without_clues("start is missing") == "start is missing"


def test_a_missing_note_is_not_told() -> None:
    assert told(Problem("missing-note", "warning", "", "n", "the note n has no predictions")) is None
    kept = Problem("schema", "error", "/0", "n", "start is missing")
    assert told(kept) == kept


def test_errors_come_first() -> None:
    public = public_problems(collected("empty", "schema", "missing-note", "json"))
    assert [problem.code for problem in public.problems] == ["schema", "json", "empty"]
    assert public.counts == {"empty": 1, "json": 1, "missing-note": 1, "schema": 1}
    assert list(public.counts) == sorted(public.counts)


def test_a_hundred_are_listed_and_all_are_counted() -> None:
    public = public_problems(collected(*["schema"] * 130))
    assert len(public.problems) == LISTED == 100
    assert public.counts == {"schema": 130}


def test_a_thousand_are_looked_at() -> None:
    """Whoever has a thousand problems that cannot be told is not told of the next one."""
    untold = ["missing-note"] * 999
    assert [one.code for one in public_problems(collected(*untold, "empty")).problems] == ["empty"]
    assert public_problems(collected(*untold, "missing-note", "empty")).problems == []


def test_the_reason_counts_and_quotes_the_first_error() -> None:
    public = public_problems(collected("empty", "schema", *["json"] * 1200))
    expected = "the predictions are not valid: empty 1, json 1,200, schema 1; first: /1: schema 1"
    assert reason_of(public) == expected


def test_warnings_are_no_reason_to_quote() -> None:
    assert reason_of(public_problems(collected("empty"))) == "the predictions are not valid: empty 1"


def test_a_problem_of_the_whole_file_stands_at_its_root() -> None:
    found = ProblemCollector("predictions")
    found.add("json", (0, 0), "", None, "no JSON")
    assert reason_of(public_problems(found)).endswith("; first: /: no JSON")
