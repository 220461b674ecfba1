"""The share kit: what a site on the web has beside its pages, so that boards are quoted, followed and cited.

A preview image and a description for whoever links to a board, a feed of new best scores and changes of gold, a badge
for each submission, citations, and a description of the data for search engines. Dates are the board's; there is no
clock.
"""

import io
import json
import warnings
from collections.abc import Iterator, Sequence
from textwrap import shorten, wrap
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from xml.sax.saxutils import escape, quoteattr

from markupsafe import Markup
from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import in_attribute
from sandscore.records.board import Row
from sandscore.site.board_proof import data_block
from sandscore.site.lead_strip import LeadStrip
from sandscore.site.page_text import places, ratio
from sandscore.site.plots import palette
from sandscore.site.plots.history_plot import History, history
from sandscore.site.site_pages import BoardPage, Overview, without_markup

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEED, FAVICON, CITATION, BIBTEX, PREVIEW = "feed.xml", "favicon.svg", "CITATION.cff", "cite.bib", "preview.png"
NEVER = "1970-01-01T00:00:00Z"
"""When a feed was changed in which nothing has a date."""
_LINES = 6
_LATEX = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"})


class FeedEntry(Struct, frozen=True):
    """Something that happened, when, and where it can be seen."""

    when: str
    title: str
    link: str
    told: str


def site_address(url: str) -> str:
    """The address of a site's folder, ending with a slash; refuses what is no address of one."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in {"http", "https"} and parts.hostname and not (parts.query or parts.fragment)
    except ValueError:
        fine = False
    if not fine or not url.isascii() or any(c.isspace() or c in "<>\"'`\\" for c in url):
        raise UsageFault("--url wants the address of the site's folder, such as https://example.org/leaderboard/")
    return url if url.endswith("/") else f"{url}/"


class SiteShare(Struct, frozen=True):
    """What pages say of themselves to whoever links to them; ``url`` is where the site's folder will lie."""

    overview: Overview
    url: str

    def dataset(self, shown: BoardPage) -> Markup:
        """The board for search engines, as JSON-LD."""
        where, title = f"{self.url}{shown.slug}/", self.overview.title
        forms = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}
        told = {
            "@context": "https://schema.org/",
            "@type": "Dataset",
            "name": f"{title}: {shown.title}",
            "description": shown.summary,
            "url": where,
            "isAccessibleForFree": True,
            "creator": {"@type": "Organization", "name": f"The organisers of {title}"},
            "measurementTechnique": shown.board.headline,
            "variableMeasured": shown.score,
            "version": ", ".join(hash_ or "unknown" for hash_ in shown.board.gold.values()),
            "distribution": [
                {"@type": "DataDownload", "encodingFormat": form, "contentUrl": f"{where}board.{ending}"}
                for ending, form in forms.items()
            ],
        }
        return data_block(told)


def shared_files(share: SiteShare) -> Iterator[tuple[str, bytes]]:
    """Every file of the kit by its place in the site's folder."""
    overview, url = share.overview, share.url
    for shown in overview.boards:
        for line in shown.standings.lines:
            yield f"{shown.slug}/badges/{line.page}.svg", badge(line.row, len(shown.board.rows)).encode()
        yield f"{shown.slug}/{PREVIEW}", _preview(shown)
    entries = [entry for shown in overview.boards for entry in feed_entries(shown, url)]
    yield FEED, feed(overview.title, entries, url).encode()
    yield FAVICON, _FAVICON.encode()
    yield CITATION, citation(overview, url).encode()
    yield BIBTEX, bibtex(overview, url).encode()


_FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><rect x="1" y="4" width="12" height="4" rx="2" '
    f'fill="{palette.SPAN}"/><rect x="5" y="9.5" width="16" height="4" rx="2" fill="{palette.DOT}"/>'
    f'<rect x="3" y="15" width="9" height="4" rx="2" fill="{palette.SPAN}"/></svg>\n'
)


def badge(row: Row, rows: int) -> str:
    """The places a submission may hold, to stand beside its name elsewhere."""
    said = f"{_held(row)} of {rows}"
    left, right = 84, 14 + 7 * len(said)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f"aria-label={quoteattr(f'sandscore: {said}')}><title>{escape(said)}</title>"
        f'<rect width="{left}" height="20" rx="3" fill="{palette.SOFT}"/>'
        f'<rect x="{left - 3}" width="{right + 3}" height="20" rx="3" fill="{palette.DOT}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="10" y="14">sandscore</text><text x="{left + 6}" y="14">{escape(said)}</text></g></svg>\n'
    )


def _held(row: Row) -> str:
    if row.rank_set is None:
        return f"rank {row.rank:g}" if row.rank is not None else "taking part, one"
    low, high = row.rank_set
    return f"{'place' if low == high else 'places'} {places(row.rank_set)}"


def feed_entries(shown: BoardPage, url: str) -> list[FeedEntry]:
    """New best scores, as they came in, and what was scored again because gold, map or harness changed."""
    past = history(shown.board, shown.earlier)
    return _leaders(shown, past, url) + _changes(shown, past, url) if past else []


def _leaders(shown: BoardPage, past: History, url: str) -> list[FeedEntry]:
    pages = {line.row.submission: line.page for line in shown.standings.lines}
    return [
        FeedEntry(
            f"{point.when:%Y-%m-%dT%H:%M:%SZ}",
            f"{in_attribute(shown.title)}: the best score so far is of {in_attribute(point.label)}",
            f"{url}{shown.slug}/index.html#row-{pages[point.row.submission]}",
            f"{shown.score} {ratio(point.score)} of {shown.board.headline}; places now: {places(point.row.rank_set)}.",
        )
        for point in past.best
    ]


def _changes(shown: BoardPage, past: History, url: str) -> list[FeedEntry]:
    return [
        FeedEntry(
            f"{change.after:%Y-%m-%dT%H:%M:%SZ}",
            f"{in_attribute(shown.title)}: scored again, {in_attribute(change.what)}",
            f"{url}{shown.slug}/index.html#history-{at}",
            "What came before was scored again.",
        )
        for at, change in enumerate(past.rescores, 1)
    ]


def feed(title: str, entries: Sequence[FeedEntry], url: str) -> str:
    """Atom, the newest first."""
    newest = sorted(entries, key=lambda entry: (entry.when, entry.link), reverse=True)
    when = newest[0].when if newest else NEVER
    name = escape(in_attribute(title))
    told = [
        f"<entry><title>{escape(entry.title)}</title><id>{escape(entry.link)}</id><link href={quoteattr(entry.link)}/>"
        f"<updated>{entry.when}</updated><summary>{escape(entry.told)}</summary></entry>\n"
        for entry in newest
    ]
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<title>{name}</title><id>{escape(url)}</id><updated>{when}</updated><author><name>{name}</name></author>\n"
        f'<link href={quoteattr(url)}/><link rel="self" href={quoteattr(url + FEED)}/>\n{"".join(told)}</feed>\n'
    )


def citation(overview: Overview, url: str) -> str:
    """CITATION.cff; its values are written as JSON, which YAML reads."""
    gold = sorted({hash_ for shown in overview.boards for hash_ in shown.board.gold.values() if hash_})
    versions = sorted({shown.board.sandscore for shown in overview.boards})
    told = {
        "cff-version": "1.2.0",
        "message": in_attribute(
            overview.citation or "Please cite this leaderboard, and the gold it was scored against."
        ),
        "type": "dataset",
        "title": in_attribute(overview.title),
        "authors": [{"name": f"The organisers of {in_attribute(overview.title)}"}],
        "url": url,
        "version": ", ".join(gold or ["unknown"]),
        "keywords": ["leaderboard", "clinical text", *(f"sandscore {version}" for version in versions)],
    }
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in told.items())


def bibtex(overview: Overview, url: str) -> str:
    """One entry a board."""
    told = []
    for shown in overview.boards:
        gold = ", ".join(hash_ or "unknown" for hash_ in shown.board.gold.values())
        fields = {
            "title": f"{{{_tex(overview.title)}: {_tex(shown.title)}}}",
            "author": f"{{The organisers of {_tex(overview.title)}}}",
            "howpublished": f"\\url{{{url}{shown.slug}/}}",
            "note": f"Gold {gold}, sandscore {_tex(shown.board.sandscore)}",
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        told.append(f"@misc{{{shown.slug},\n{lines}}}\n")
    return "\n".join(told)


def _tex(text: str) -> str:
    return in_attribute(text).translate(_LATEX)


def _preview(shown: BoardPage) -> bytes:
    """1200 × 630: the title, the first sentence, and those who lead."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor=palette.RAISED)
    canvas = FigureCanvasAgg(figure)
    title = wrap(in_attribute(shown.title), 44, max_lines=2, placeholder="…")
    lead = wrap(without_markup(shown.said.lead), 62, max_lines=3, placeholder="…")
    figure.text(0.05, 0.92, "\n".join(title), size=30, weight="bold", color=palette.INK, va="top")
    figure.text(0.05, 0.92 - 0.1 * len(title), "\n".join(lead), size=21, color=palette.SOFT, va="top")
    if strip := shown.strip:
        _draw(figure.add_axes((0.36, 0.1, 0.59, 0.055 * min(_LINES, len(strip.rows)) + 0.03)), strip)
    written = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that the font lacks is drawn as a box
        canvas.print_figure(written, format="png", metadata={"Software": None})
    return written.getvalue()


def _draw(axes: "Axes", strip: LeadStrip) -> None:
    rows = [line for line, _ in strip.rows[:_LINES]]
    names = [shorten(in_attribute(line.title.label), 32, placeholder="…") for line in rows]
    for at, line in enumerate(rows):
        if line.score is None:
            continue
        low, high = line.interval or (line.score, line.score)
        axes.plot([low, high], [at, at], color=palette.SPAN, linewidth=7, solid_capstyle="butt")
        axes.plot([line.score], [at], "o", color=palette.DOT, markersize=11)
    axes.set(ylim=(len(rows) - 0.5, -0.5), yticks=range(len(rows)))
    axes.set_yticklabels(names, size=15, color=palette.INK)
    axes.tick_params(length=0, labelcolor=palette.INK, labelsize=13)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
