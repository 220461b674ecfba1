"""Bytes that are no JSON, called what they are: packed files, other encodings, other people's notations."""

import re

_SEEN = 4096
_BEGINNINGS = (
    (b"\x1f\x8b", "a gzip file whose name does not end in .gz: rename it"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file whose name does not end in .zst: rename it"),
    (b"\xfd7zXZ\x00", "an xz file, which is not unpacked here: unpack it, or pack it as .gz or .zst"),
    (b"BZh", "a bzip2 file, which is not unpacked here: unpack it, or pack it as .gz or .zst"),
    (b"PK\x03\x04", "a zip archive: take the JSON file out of it"),
    (b"%PDF", "a PDF, not JSON"),
    (b"PAR1", "a Parquet file, not JSON"),
    (b"\x93NUMPY", "an array of NumPy, not JSON"),
    (b"\x80\x04\x95", "a pickle of Python, which is not read: write it with json.dump"),
    (b"\x80\x05\x95", "a pickle of Python, which is not read: write it with json.dump"),
    (b"\xff\xfe\x00\x00", "UTF-32 text: write it as UTF-8"),
    (b"\x00\x00\xfe\xff", "UTF-32 text: write it as UTF-8"),
    (b"\xff\xfe", "UTF-16 text: write it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: write it as UTF-8"),
)
_PYTHON = r"[\[{\s]*'(?:[^'\\]|\\.)*'\s*:|[\[(]*\(|\{'|[\[(]*[A-Za-z_]\w*\("
_LOOKS = (
    (r"<!doctype html|<html\b|<head\b|<body\b", "HTML, a page for a browser, not JSON"),
    (r"<\?xml\b|<[A-Za-z_!][^<>]*>", "XML, not JSON"),
    (_PYTHON, "Python's own notation (repr), not JSON: write it with json.dump"),
    (r"---\s*\n|[A-Za-z_]\w*:(?: |\n)", "YAML, not JSON"),
)
_FIELDS = r"[^\n\r{}\[\]<>]*"
_CONSTANTS = r"[\[,:{]\s*(?:None|True|False)\b"
_CUT = ("ends in the middle", "found the end", "unterminated string", "truncated")


def named(data: memoryview, fault: str) -> str:
    """The fault of a file that could not be read, or what the file is instead, where its beginning says so."""
    begin = bytes(data[:_SEEN])
    packed = next((what for magic, what in _BEGINNINGS if begin.startswith(magic)), None)
    if packed is not None:
        return f"this is {packed}"
    if begin[:64].count(0) >= len(begin[:64]) // 3 > 0:
        return "this is UTF-16 text: write it as UTF-8"
    text = begin.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    look = next((what for look, what in _LOOKS if re.match(look, text, re.IGNORECASE)), None)
    if look is None and text[:1] in "[{" and re.search(_CONSTANTS, text) and "'" in text:
        look = _LOOKS[2][1]
    if look is None and text[:1] not in ("[", "{", '"', ""):
        look = _table(text)
    if look is not None:
        return f"this is {look} ({fault})"
    if any(sign in fault.lower() for sign in _CUT) and text[:1] in ("[", "{"):
        return f"the file is cut off: its end is missing ({fault})"
    return fault


def _table(text: str) -> str | None:
    """Comma- or tab-separated values: the first lines have as many of the same mark."""
    lines = text.splitlines()[:3]
    for mark, what in ((",", "CSV"), ("\t", "TSV"), (";", "CSV with semicolons")):
        if lines and all(line.count(mark) for line in lines) and re.fullmatch(_FIELDS, lines[0]):
            return f"{what}, a table, not JSON: --from csv reads tables"
    return None
