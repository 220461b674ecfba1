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
    (b"\x89PNG", "a picture (PNG), not JSON"),
    (b"\xff\xd8\xff", "a picture (JPEG), not JSON"),
    (b"GIF8", "a picture (GIF), not JSON"),
    (b"\x7fELF", "a program (ELF), not JSON"),
    (b"SQLite format 3\x00", "a database of SQLite, not JSON"),
    (b"\xd0\xcf\x11\xe0", "a document of an older Microsoft Office, not JSON: save it as CSV"),
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
    (r"version https://git-lfs", "a pointer of Git LFS in the place of the file: git lfs pull fetches it"),
    (r"Traceback \(most recent call last\)", "the traceback of a program that failed, not its output"),
    (r"(?:[TREAM]\d+|#\d+)\t", "BRAT's standoff, not JSON: --from brat reads the folder of such files"),
    (r"[^\s\t]+[ \t]+(?:O|[BILUES]-\w+)\r?\n", "a token a line, as in CoNLL, not JSON: --from conll reads it"),
    (r"`{3}|~{3}", "Markdown around something else: write the JSON alone, without the fence"),
    (r"//|/\*|#(?!\d)", "JSON with comments, which JSON has not: take them out"),
    (r"---\s*\n|[A-Za-z_]\w*:(?: |\n)|- [A-Za-z_]\w*: ", "YAML, not JSON"),
)
_PROSE = "words around JSON, as a chat model writes them: write the JSON alone"
_FIELDS = r"[^\n\r{}\[\]<>]*"
_CONSTANTS = r"[\[,:{]\s*(?:None|True|False)\b"
_CUT = ("ends in the middle", "found the end", "unterminated string", "truncated")
_AFTER = ("trailing characters", "extra data")
_TAR = 257
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))


def named(data: memoryview, fault: str) -> str:
    """The fault of a file that could not be read, or what the file is instead, where its beginning says so."""
    unread = no_text(data)
    if unread is not None:
        return unread
    begin = bytes(data[:_SEEN])
    text = begin.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    look = next((what for look, what in _LOOKS if re.match(look, text, re.IGNORECASE)), None)
    if look is None and text[:1] in "[{" and re.search(_CONSTANTS, text) and "'" in text:
        look = _LOOKS[2][1]
    if look is None and text[:1] not in ("[", "{", '"', ""):
        look = _table(text)
    if look is None and text[:1].isalpha() and re.search(r"^\s*[\[{]", text, re.MULTILINE):
        look = _PROSE
    if look is not None:
        return f"this is {look} ({fault})"
    if "hex escape" in fault:
        return f"half a character, a lone surrogate, is escaped in it: write whole characters ({fault})"
    if any(sign in fault.lower() for sign in _AFTER):
        return f"something stands after the end of the JSON: a file holds one value, or one a line ({fault})"
    if any(sign in fault.lower() for sign in _CUT) and text[:1] in ("[", "{"):
        return f"the file is cut off: its end is missing ({fault})"
    return fault


def no_text(data: memoryview) -> str | None:
    """What a file is that holds no text in UTF-8, as a sentence; None where it may be text."""
    begin = bytes(data[:_SEEN])
    packed = next((what for magic, what in _BEGINNINGS if begin.startswith(magic)), None)
    if packed is not None:
        return f"this is {packed}"
    if begin[_TAR : _TAR + 5] == b"ustar":
        return "this is a tar archive: take the JSON file out of it"
    if _is_utf16(begin[:64]):
        return "this is UTF-16 text: write it as UTF-8"
    return "this is binary, not text, and of no kind that is known here" if _is_binary(begin) else None


def _is_utf16(begin: bytes) -> bool:
    """Whether every other byte is naught, and only those: Latin letters of two bytes each."""
    halves = begin[::2], begin[1::2]
    for naughts, letters in (halves, halves[::-1]):
        if naughts and naughts.count(0) >= len(naughts) * 2 // 3 and letters and letters.count(0) <= len(letters) // 8:
            return not _is_binary(letters)
    return False


def _is_binary(begin: bytes) -> bool:
    """Whether bytes are no text in any encoding of one byte or more a character: control characters all over."""
    controls = len(begin) - len(begin.translate(None, _CONTROLS))
    return controls > len(begin) // 50


def _table(text: str) -> str | None:
    """Comma- or tab-separated values: the first lines have as many of the same mark."""
    lines = text.splitlines()[:3]
    for mark, what in ((",", "CSV"), ("\t", "TSV"), (";", "CSV with semicolons")):
        if lines and all(line.count(mark) for line in lines) and re.fullmatch(_FIELDS, lines[0]):
            return f"{what}, a table, not JSON: --from csv reads tables"
    return None
