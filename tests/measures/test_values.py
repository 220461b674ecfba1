"""A measure is one string everywhere: what is printed is parsed to the same value."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.measures.measure_registry import MEASURES
from sandscore.measures.measure_syntax import Named, Parameter, ParameterisedRow, parse


class Example(ParameterisedRow):
    """A row with a parameter of every type."""

    name = "m"
    description = "an example"
    parameters = (
        Parameter("count", 2, least=0, most=9),
        Parameter("share", 0.5, least=0, most=1),
        Parameter("mode", "sum", choices=("sum", "max")),
        Parameter("deep", False),
    )


def find(name: str) -> type[ParameterisedRow]:
    if name != "m":
        raise UsageFault(f"unknown measure '{name}'; allowed: m")
    return Example


@given(
    count=st.integers(0, 9),
    share=st.floats(0, 1),
    mode=st.sampled_from(["sum", "max"]),
    deep=st.booleans(),
)
def test_what_is_printed_is_parsed(count: int, share: float, mode: str, deep: bool) -> None:
    written = f"m(mode={mode}, share={share!r},count={count} ,deep={str(deep).lower()})"
    value = parse(written, find)
    assert parse(str(value), find) == value
    assert Example.settle(value) == {"count": count, "share": share, "mode": mode, "deep": deep}


def test_defaults_are_not_printed() -> None:
    assert str(parse("m(count=2,mode=sum)", find)) == "m"
    assert parse("m", find) == Named("m")


@pytest.mark.parametrize(
    "written",
    ["instance_relax(relax=3)", "instance_relax(relax=1,boundary=both)", "hipaa_phi"],
)
def test_the_contracts_own_examples_come_back_as_written(written: str) -> None:
    assert str(parse(written, MEASURES.find)) == written


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("n", "allowed: m"),
        ("m(cout=3)", "did you mean count?"),
        ("m(count=ten)", "must be a whole number from 0 up to 9"),
        ("m(count=10)", "out of range"),
        ("m(count=1,count=2)", "each parameter once"),
        ("m(count)", "as key=value"),
        ("m(mode=least)", "must be sum or max"),
        ("m(share=nan)", "must be a number"),
        ("m(deep=maybe)", "must be true or false"),
        ("m(count=1", "write it as name or name(key=value"),
        ("", "write it as name"),
    ],
)
def test_what_is_not_allowed_is_answered_with_what_is(written: str, said: str) -> None:
    with pytest.raises(UsageFault) as caught:
        parse(written, find)
    assert said in str(caught.value)


class Bare(ParameterisedRow):
    """A row without parameters."""

    name = "b"
    description = "another example"


@pytest.mark.parametrize(("row", "allowed"), [(Example, "count, share, mode, deep"), (Bare, "none")])
def test_a_parameter_nobody_knows_is_told_which_there_are(row: type[ParameterisedRow], allowed: str) -> None:
    with pytest.raises(UsageFault) as refused:
        parse("x(zebra=1)", lambda _: row)
    assert str(refused.value) == f"unknown parameter 'zebra' of the measure x; allowed: {allowed}"


def test_a_map_of_protected_types(tmp_path: Path) -> None:
    place = tmp_path / "map.json"
    place.write_text('{"version": "7", "hipaa_phi": {" City": true, "age": false}}', encoding="utf-8")
    found = load_hipaa_map(place)
    assert (found.version, found.protected) == ("7", {"city": True, "age": False})
    for wrong in ("[]", "7", "{}", '{"hipaa_phi": []}', '{"hipaa_phi": {"city": 1}}'):
        place.write_text(wrong, encoding="utf-8")
        with pytest.raises(OrganiserFault, match=r"map\.json: expected"):
            load_hipaa_map(place)
