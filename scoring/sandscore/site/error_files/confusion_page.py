"""The confusion matrix as a page of its own: an interactive heat map, and the same numbers as a table."""

from collections.abc import Sequence
from html import escape
from typing import Any

from sandscore.base.errors import UsageFault

TITLE = "PII Detection Confusion Matrix"
_COLOURS = [[0, "#f2f6fc"], [0.5, "#4d86c4"], [1, "#0b2f63"]]
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "table{border-collapse:collapse;margin-top:2rem}caption{text-align:left;margin-bottom:.5rem}"
    "td,th{border:1px solid #767676;padding:.25rem .6rem;text-align:right}"
)


def page(labels: Sequence[str], matrix: Sequence[Sequence[int]]) -> str:
    """A self-contained HTML page; nothing in it is fetched from elsewhere."""
    chart = _chart(labels, matrix)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{chart}\n{_table(labels, matrix)}\n</main>\n</body>\n</html>\n"
    )


def figure(labels: Sequence[str], matrix: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The heat map as Plotly's plain data: rows gold from the top, columns predicted."""
    shown = [escape(label, quote=False) for label in labels]
    most = max((n for counts in matrix for n in counts), default=0)
    notes = [
        {"x": column, "y": row, "text": str(n), "showarrow": False, "font": {"color": _ink(n, most)}}
        for row, counts in enumerate(matrix)
        for column, n in enumerate(counts)
    ]
    axis = {"type": "category", "automargin": True}
    heat = {
        "type": "heatmap",
        "x": shown,
        "y": shown,
        "z": [list(counts) for counts in matrix],
        "zmin": 0,
        "colorscale": _COLOURS,
    }
    layout = {
        "height": 260 + 34 * len(labels),
        "title": {"text": TITLE},
        "xaxis": {"title": {"text": "Predicted", "standoff": 16}, **axis},
        "yaxis": {"title": {"text": "Actual", "standoff": 16}, "autorange": "reversed", **axis},
        "annotations": notes,
    }
    return {"data": [heat], "layout": layout}


def _ink(n: int, most: int) -> str:
    """White on the dark half of the colour scale."""
    return "#ffffff" if 2 * n > most else "#202020"


def _chart(labels: Sequence[str], matrix: Sequence[Sequence[int]]) -> str:
    try:
        from plotly.io import to_html
    except ImportError:
        raise UsageFault("confusion_matrix.html needs plotly: pip install 'sandscore[reports]'") from None
    drawn: str = to_html(
        figure(labels, matrix), full_html=False, include_plotlyjs=True, div_id="confusion-matrix", validate=False
    )
    return drawn


def _table(labels: Sequence[str], matrix: Sequence[Sequence[int]]) -> str:
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in labels)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(label)}</th>{"".join(f"<td>{n}</td>" for n in counts)}</tr>'
        for label, counts in zip(labels, matrix, strict=True)
    )
    return (
        "<table>\n<caption>Rows: gold. Columns: predicted. O: no annotation.</caption>\n"
        f"<thead><tr><th></th>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    )
