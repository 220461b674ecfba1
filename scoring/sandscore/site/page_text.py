"""Values as a reader sees them; hostile text comes out as text, and nothing in it stays invisible."""

from datetime import UTC, datetime

from markupsafe import Markup

from sandscore.base.terminal_text import UNDEFINED, in_attribute, on_page
from sandscore.ranking.rank_agreement import band_of
from sandscore.site.plain_names import plain_measure


def breakable(name: str) -> Markup:
    """The name of a measure, which may go on in the next line where its parts meet."""
    return on_page(name).replace("_", Markup("_<wbr>"))


def ratio(value: float | None, digits: int = 3) -> str:
    """A dash where there is nothing to divide by."""
    return UNDEFINED if value is None else f"{value:.{digits}f}"


def difference(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def percent(value: float | None) -> str:
    """Whole per cents, but never a rounded-up certainty."""
    if value is None:
        return UNDEFINED
    if 0 < value < 0.01:
        return "<1 %"
    if 0.99 < value < 1:
        return ">99 %"
    return f"{value:.0%}".replace("%", " %")


def p_value(value: float | None, *, floored: bool = False) -> str:
    """Where it is ``floored`` it may be smaller yet: no draw reached the pair."""
    if value is None:
        return UNDEFINED
    if floored:
        return f"≤{value:.2g}" if value >= 1e-4 else f"≤{value:f}".rstrip("0")
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def places(rank_set: tuple[int, int] | None) -> str:
    """The places a row may really hold, such as 1–3."""
    if rank_set is None:
        return UNDEFINED
    low, high = rank_set
    return f"{low}" if low == high else f"{low}–{high}"


def place(rank: float | None) -> str:
    return UNDEFINED if rank is None else f"{rank:g}"


def bayes_factor(k: float | None, *, ceiling: float | None = None) -> str:
    """DREAM's K with the band it falls in; above the ceiling nothing was lost, and K could be any larger."""
    if k is None:
        return UNDEFINED
    if ceiling is not None and k > ceiling:
        return f">{ceiling:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    band = band_of(k).replace("> ", ">")
    return f"{k:.1f} ({band})" if k < 100 else f"{k:,.0f} ({band})".replace(",", "\N{NARROW NO-BREAK SPACE}")


def seconds(value: float | None) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def memory(size: float | None) -> str:
    return UNDEFINED if size is None else f"{size / (1 << 20):.0f} MiB"


def moment(written: str | None) -> datetime | None:
    """A time as the board has it; None where it is none. Without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(written or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def day(written: str | None) -> str:
    """The date alone; what is no date stays as it was given."""
    found = moment(written)
    return found.date().isoformat() if found else in_attribute(written or UNDEFINED)


FILTERS = {
    "shown": on_page,
    "plain": in_attribute,
    "breakable": breakable,
    "plain_measure": plain_measure,
    "ratio": ratio,
    "difference": difference,
    "percent": percent,
    "p_value": p_value,
    "places": places,
    "place": place,
    "bayes_factor": bayes_factor,
    "seconds": seconds,
    "memory": memory,
    "day": day,
}
