"""Text to tokens, as the English tokeniser cuts it that the original takes its tokens from.

White space is a token wherever it is more than the one blank between two words. Of a word, punctuation
is taken off both ends and then, between letters or digits, out of its middle. These are the rules for
ordinary English; the original's list of several hundred exceptions is cut down to what clinical notes
hold. ``library_tokens`` asks the original's own library instead, where that is installed.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from msgspec import Struct

from sandscore.base.errors import UsageFault

_OPENING = re.compile(r"[\"'`‘’“”«»()\[\]{}<>*&,;:!?…_#§%=—–$£€¥|¿¡]|\.\.+|\+(?!\d)|[^\w\s\x00-\x7f]")
_CLOSING = re.compile(
    r"(?:\):|['’][sS]|\.\.+|[\"'`‘’“”«»()\[\]{}<>*&,;:!?…_#—–|]|(?<=\d)[+$£€¥%]|(?<=\d)°[FfCc]?"
    r"|(?<=[a-zß-ÿ\d%²+\-)\]\"'’”])\.|(?<=[A-Z]{2})\.|%|[^\w\s\x00-\x7f])$"
)
_UNIT = re.compile(
    r"(?<=\d)(?:km|[cmdµn]?m|ha|[kmµ]?g|lb|oz|[kc]m/?s|m/s|mph|hPa|Pa|mbar|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K)$"
)
_CLOCK = re.compile(r"(\d{1,2})((?:am|pm|a\.m\.|p\.m\.))", re.ASCII)
_MIDDLE = re.compile(
    r"\.\.+|[…☀-➿🀀-🫿]|(?<=\d)[+\-*^](?=[\d-])|(?<=[a-zß-ÿ\"'’”])\.(?=[A-ZÀ-Þ\"'‘“])|(?<=[^\W\d_]),(?=[^\W\d_])"
    r"|(?<=[^\W_])(?:-|–|—|--|---|~)(?=[^\W\d_])|(?<=[^\W_])[:<>=/](?=[^\W\d_])"
)
_SHORTENED = re.compile(
    r"((?:i|you|he|she|it|we|they|who|what|when|where|why|how|there|that|this)(?=['’]))"
    r"(['’](?:ll|re|ve|d|m))"
    r"|((?:do|does|did|is|are|was|were|has|have|had|ca|could|would|should|might|must|need|wo))(n['’]t)"
    r"|(can)(not)|(got)(ta)|(gon)(na)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:https?://|www\.)\S*[\w/]", re.ASCII)
_ABBREVIATION = re.compile(
    r"(?:Mr|Mrs|Ms|Dr|Drs|Prof|St|Mt|Jr|Sr|Rev|Gen|Gov|Rep|Sen|Co|Corp|Inc|Ltd|Bros|vs|v\.s|e\.g|i\.e|"
    r"E\.g|I\.e|a\.m|p\.m|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Ph\.D|Adm|Ala|Ariz|Ark|"
    r"Calif|Colo|Conn|Del|D\.C|Fla|Ga|Ia|Id|Ill|Ind|Kan|Kans|Ky|La|Mass|Md|Mich|Minn|Miss|Mo|Mont|"
    r"N\.C|N\.D|N\.H|N\.J|N\.M|N\.Y|Neb|Nebr|Nev|Okla|Ore|Pa|S\.C|Tenn|Va|Wash|Wis|U\.S|o\.k)\."
)


class Token(Struct, frozen=True):
    """A piece of text and where it starts."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens_of(text: str) -> list[Token]:
    """The text's tokens in order."""
    found = []
    after_word = False
    for run in re.finditer(r"\s+|\S+", text):
        start, piece = run.start(), run[0]
        if piece[0].isspace():
            if after_word and piece[0] == " ":
                start, piece = start + 1, piece[1:]
            if piece:
                found.append(Token(piece, start))
            after_word = False
        else:
            found.extend(Token(piece[a:b], start + a) for a, b in _word(piece))
            after_word = True
    return found


def library_tokens(text: str) -> list[Token]:
    """The tokens of spaCy's English tokeniser."""
    return [Token(token.text, token.idx) for token in _library()(text)]


@cache
def _library() -> Any:
    try:
        english = import_module("spacy.lang.en")
    except ImportError:
        raise UsageFault("tokens=spacy needs the package spacy, which is not installed") from None
    return english.English().tokenizer


def _word(word: str) -> Iterator[tuple[int, int]]:
    """Where a word without white space is cut: its opening marks, its middle, its closing marks."""
    first, last = 0, len(word)
    closing: list[tuple[int, int]] = []
    while first < last and not _whole(word[first:last]):
        opened = _OPENING.match(word, first, last)
        if opened:
            yield opened.span()
            first = opened.end()
            continue
        closed = _CLOSING.search(word[first:last]) or _UNIT.search(word[first:last])
        if not closed:
            break
        closing.append((first + closed.start(), last))
        last = first + closed.start()
    yield from ((first + a, first + b) for a, b in _middle(word[first:last]))
    yield from reversed(closing)


def _whole(piece: str) -> bool:
    return bool(
        _ABBREVIATION.fullmatch(piece)
        or _SHORTENED.fullmatch(piece)
        or _CLOCK.fullmatch(piece)
        or _ADDRESS.fullmatch(piece)
    )


def _middle(piece: str) -> Iterator[tuple[int, int]]:
    split = _SHORTENED.fullmatch(piece) or _CLOCK.fullmatch(piece)
    if split:
        yield from (split.span(i) for i in range(1, split.re.groups + 1) if split[i])
        return
    if not piece or _ABBREVIATION.fullmatch(piece) or _ADDRESS.fullmatch(piece):
        if piece:
            yield 0, len(piece)
        return
    at = 0
    for mark in _MIDDLE.finditer(piece):
        if mark.start() > at:
            yield at, mark.start()
        yield mark.span()
        at = mark.end()
    if at < len(piece):
        yield at, len(piece)
