"""Tables of values as text and as a page, by hand: what is drawn where."""

from sandscore.value_views.value_tables import IntervalBar, ValueView, as_html, as_text, interval_text, ratio_text


def test_a_bar_stands_where_its_numbers_are() -> None:
    assert [IntervalBar(None, None).place(number) for number in (0, 0.25, 1)] == [0, 30, 120]
    assert [IntervalBar(None, None, -1).place(number) for number in (-1, 0, 1)] == [0, 60, 120]


def test_a_table_as_text_and_as_a_page() -> None:
    view = ValueView("<title>", ("name", "F1"), [("a", ratio_text(0.5))], [IntervalBar(0.5, (0.25, 0.75))], ["said"])
    assert as_text(view).splitlines()[0] == "<title>"
    page = as_html(view)
    assert "&lt;title&gt;" in page
    assert 'x1="30.0"' in page
    assert 'x2="90.0"' in page
    assert page.count('y1="6.0"') == 2, "in the middle of twelve pixels"
    assert "0.250 to 0.750" in page
    assert interval_text(None) == ratio_text(None) != "0"
    assert interval_text((-0.5, 0.5), "+") == "-0.500 to +0.500"


def test_a_line_for_nothing_where_less_than_nothing_can_be() -> None:
    def lines(bar: IntervalBar) -> list[str]:
        page = as_html(ValueView("t", ("a",), [("x",)], [bar]))
        return [f"{one.split(chr(34))[1]} {one.split(chr(34))[5]}" for one in page.split("<line")[1:]]

    assert lines(IntervalBar(None, None)) == ["0 120"]
    assert lines(IntervalBar(None, None, -1)) == ["0 120", "60.0 60.0"]
    assert lines(IntervalBar(0.5, (0.25, 0.75))) == ["0 120", "30.0 90.0", "60.0 60.0"]


def test_a_column_of_bars_where_there_are_some() -> None:
    plain = as_html(ValueView("t", ("a", "b"), [("x", "y")]))
    drawn = as_html(ValueView("t", ("a", "b"), [("x", "y")], [IntervalBar(None, None)]))
    assert (plain.count("<th "), drawn.count("<th "), plain.count("<td"), drawn.count("<td")) == (2, 3, 2, 3)
    assert plain.count("text-align:right") == 2
    assert "<thead>" not in as_html(ValueView("t", ("a",), []))
