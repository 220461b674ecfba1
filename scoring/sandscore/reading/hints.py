"""Why an annotation's text does not stand where it says: the usual miscounts, tried one by one."""

FARTHEST = 1000


def offset_hint(note: str, start: int, length: int, text: str) -> str:
    """A clause that names the miscount, or nothing."""
    if not text:
        return ""
    if not note.isascii():
        if _counted(note, start, length, text, "utf-16-le", 2):
            return "; it stands there counted in UTF-16 units, but offsets count code points"
        if _counted(note, start, length, text, "utf-8", 1):
            return "; it stands there counted in UTF-8 bytes, but offsets count code points"
    near = _nearest(note, start, text)
    if near is not None and near != start:
        side = "later" if near > start else "earlier"
        distance = f"{abs(near - start)} character{'' if abs(near - start) == 1 else 's'}"
        return f"; it stands {distance} {side}, at {near}"
    return ""


def _counted(note: str, start: int, length: int, text: str, encoding: str, width: int) -> bool:
    encoded = note[: start + len(text)].encode(encoding, "surrogatepass")
    wanted = text.encode(encoding, "surrogatepass")
    here = encoded[start * width : start * width + len(wanted)]
    return here == wanted and length * width in (len(wanted), len(text) * width)


def _nearest(note: str, start: int, text: str) -> int | None:
    after = note.find(text, start, start + FARTHEST + len(text))
    before = note.rfind(text, max(0, start - FARTHEST), min(start + len(text), len(note)))
    found = [place for place in (before, after) if place >= 0]
    return min(found, key=lambda place: (abs(place - start), place), default=None)
