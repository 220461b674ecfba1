"""neleval's rules and bugs on the smallest inputs; all numbers as neleval 3.1.1 prints them."""

from typing import Any

import pytest
from peers.mentions import evaluate, spans

from sandscore.profiles.neleval import neleval_profile

DOCUMENTED = """\
ptp\tfp\trtp\tfn\tprecis\trecall\tfscore\tmeasure
1.714\t0.286\t1.500\t0.500\t0.857\t0.750\t0.800\toverlap-maxmax::span
1.857\t0.143\t1.500\t0.500\t0.929\t0.750\t0.830\toverlap-maxsum::span
1.714\t0.286\t2.000\t0.000\t0.857\t1.000\t0.923\toverlap-summax::span
1.857\t0.143\t2.000\t0.000\t0.929\t1.000\t0.963\toverlap-sumsum::span
0\t2\t0\t2\t0.000\t0.000\t0.000\tsets::span"""

G1_GOLD = [*spans((1, 10), (20, 29, "Y"), doc="a"), *spans((1, 10), doc="b")]
G1_SYSTEM = [*spans((1, 5), doc="a"), *spans((1, 10), (20, 29, "Z"), doc="b"), *spans((1, 10), doc="c")]


def test_the_documented_example_prints_its_five_rows() -> None:
    result = evaluate(neleval_profile.NelevalScorer, spans((1, 10), (12, 12)), spans((1, 5), (6, 12)), key="span")
    assert result.table == DOCUMENTED
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("gold", "system", "expected"),
    [
        pytest.param([(1, 10), (2, 3)], [(5, 6)], (0, 1, 0, 2), id="the longer gold one is never seen"),
        pytest.param([(5, 6)], [(1, 10), (2, 3)], (0, 2, 0, 1), id="nor the longer prediction"),
        pytest.param([(1, 10)], [(1, 10), (1, 10)], (1, 1, 1, 0), id="a second copy is lost"),
        pytest.param([(1, 10), (1, 10)], [(1, 10)], (1, 0, 2, 0), id="a second gold copy is not"),
        pytest.param([(1, 10)] * 2, [(1, 10)] * 2, (1, 1, 2, 0), id="a perfect answer is not"),
        pytest.param([(5, 5)], [(1, 5), (5, 10)], (1 / 6, 11 / 6, 1, 0), id="a shared border"),
        pytest.param([(1, 1)], [(1, 1), (1, 2)], (1, 1, 1, 0), id="a shared start"),
        pytest.param([(1, 1), (1, 2)], [(2, 2)], (0, 1, 0, 2), id="a shared start in gold"),
    ],
)
def test_the_walk_loses_partners_where_a_side_overlaps_itself(
    gold: list[Any], system: list[Any], expected: tuple[float, ...]
) -> None:
    result = evaluate(neleval_profile.NelevalScorer, spans(*gold), spans(*system))
    for aggregator in ("maxmax", "maxsum", "summax", "sumsum"):
        row = result.details["rows"][f"overlap-{aggregator}::span"]
        assert [row[name] for name in ("ptp", "fp", "rtp", "fn")] == pytest.approx(expected)
    assert any("lose partners" in warning for warning in result.warnings)


def test_two_types_on_one_span_make_a_perfect_answer_imperfect() -> None:
    side = spans((1, 10, "A"), (1, 10, "B"))
    measures = evaluate(neleval_profile.NelevalScorer, side, side).measures
    assert measures["overlap-sumsum::span"]["precision"] == 0.5
    assert measures["overlap-sumsum::span+type"]["precision"] == 1.0


def test_micro_averages_forget_what_gold_has_not() -> None:
    plain = evaluate(neleval_profile.NelevalScorer, G1_GOLD, G1_SYSTEM).details["rows"]["sets::span+type"]
    assert _counts(plain) == (1, 3, 1, 2)
    grouped = {
        by: evaluate(neleval_profile.NelevalScorer, G1_GOLD, G1_SYSTEM, by=by)
        for by in ("doc", "type", "doc+type", "type+doc")
        for by in ("doc", "type", "doc+type", "type+doc")
    }
    for by, name in (("doc", "docid=<micro>"), ("type", "type=<micro>")):
        assert _counts(grouped[by].details["rows"][f"sets::span+type;{name}"]) == (1, 2, 1, 2)
        assert any("in no group" in warning for warning in grouped[by].warnings)
    cells = grouped["doc+type"].details["rows"]["sets::span+type;docid=<micro>;type=<micro>"]
    assert (_counts(cells), cells["fscore"]) == ((1, 1, 1, 2), pytest.approx(0.4))
    swapped = grouped["type+doc"].details["rows"]["sets::span+type;type=<micro>;docid=<micro>"]
    assert swapped == cells


def test_macro_is_the_mean_of_every_column() -> None:
    """Document a: 0 of 1 and 0 of 2; b: 1 of 2 and 1 of 1, F 2/3."""
    rows = evaluate(neleval_profile.NelevalScorer, G1_GOLD, G1_SYSTEM, by="doc").details["rows"]
    macro = rows["sets::span+type;docid=<macro>"]
    assert (macro["fp"], macro["precis"], macro["recall"]) == (1.0, 0.25, 0.5)
    assert macro["fscore"] == pytest.approx(1 / 3)


def test_overall_keeps_the_averages_only() -> None:
    result = evaluate(neleval_profile.NelevalScorer, G1_GOLD, G1_SYSTEM, by="doc", overall=True, key="span")
    names = [line.rpartition("\t")[2] for line in result.table.split("\n")[1:]]
    assert len(names) == 10
    assert all(name.endswith((";docid=<macro>", ";docid=<micro>")) for name in names)


def test_group_names_are_json_text() -> None:
    side = spans((1, 2), doc="ä")
    assert 'sets::span;docid="\\u00e4"' in evaluate(neleval_profile.NelevalScorer, side, side, by="doc").table


def test_without_gold_the_macro_row_is_bare_zeros() -> None:
    table = evaluate(neleval_profile.NelevalScorer, [], spans((1, 2)), by="doc", key="span").table
    assert "0\t0\t0\t0\t0\t0\t0\tsets::span;docid=<macro>" in table.split("\n")


def test_an_inverted_mention_stops_it_and_the_innocent_one_is_named() -> None:
    gold, system = spans((5, 4)), [{"doc": "d", "start": 1, "end_inclusive": 10, "type": None}]
    result = evaluate(neleval_profile.NelevalScorer, gold, system)
    reason = "AssertionError: End is before start: Annotation('d', 1, 10, [])"
    assert result.details["error"] == reason
    assert result.measures["overlap-maxmax::span"]["reason"] == reason
    assert result.measures["sets::span"]["fn"] == 1
    assert result.table == ""


def test_notes_add_up_to_sets() -> None:
    result = evaluate(neleval_profile.NelevalScorer, G1_GOLD, G1_SYSTEM)
    for measure in ("sets::span", "sets::span+type"):
        notes = [note[measure] for note in result.per_note.values()]
        total = tuple(map(sum, zip(*notes, strict=True)))
        assert total == tuple(result.measures[measure][name] for name in ("tp", "fp", "fn"))


def test_what_misleads_is_said() -> None:
    twice = evaluate(neleval_profile.NelevalScorer, spans((1, 2)), spans((1, 2), (1, 2)))
    assert [w for w in twice.warnings if "sets counts them once" in w]
    assert evaluate(neleval_profile.NelevalScorer, spans((1, 2), (3, 4)), spans((1, 2))).warnings == ()


def _counts(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row[name] for name in ("ptp", "fp", "rtp", "fn"))
