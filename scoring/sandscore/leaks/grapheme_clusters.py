"""Grapheme clusters: what a reader takes for one character, by the rules of UAX #29 and the tables of Unicode 16.

``graphemes.json`` holds the Grapheme_Cluster_Break classes (Hangul syllables are computed), what is pictographic, and
consonants and linkers of the Indic conjuncts.
"""

import re
from functools import cache
from pathlib import Path

from msgspec import json

_TABLES = Path(__file__).with_name("graphemes.json")
_JOINER, _NON_JOINER = "\\u200D", "\\u200C"
_ASCII = 128
_SYLLABLES, _TAILS = range(0xAC00, 0xD7A4), 28
"""Hangul: every 28th syllable is one without a last consonant."""


@cache
def cluster_pattern() -> re.Pattern[str]:
    """Matches one cluster after another."""
    table = json.decode(_TABLES.read_bytes(), type=dict[str, str])
    kind = {name: "".join(map(_range, ranges.split())) for name, ranges in table.items() if name != "unicode"}
    open_syllable = "".join(map(chr, _SYLLABLES[::_TAILS]))
    syllable = f"{chr(_SYLLABLES[0])}-{chr(_SYLLABLES[-1])}"
    lead, vowel, tail = kind["l"], kind["v"], kind["t"]
    hangul = (
        f"[{lead}]*(?:[{vowel}]+|[{open_syllable}][{vowel}]*|(?![{open_syllable}])[{syllable}])[{tail}]*"
        f"|[{lead}]+|[{tail}]+"
    )
    clinging = f"[{kind['extend']}{_JOINER}]"
    between = f"(?![{kind['linker']}{_NON_JOINER}]){clinging}"
    linked = f"(?:{between})*[{kind['linker']}](?:{between}|[{kind['linker']}])*[{kind['consonant']}]"
    picture = f"[{kind['pictographic']}](?:[{kind['extend']}]*{_JOINER}[{kind['pictographic']}])*"
    flag = f"[{kind['regional']}]{{2}}"
    plain = f"[^{kind['control']}\\r\\n]"
    core = f"(?:{hangul}|{flag}|{picture}|[{kind['consonant']}](?:{linked})+|{plain})"
    after = f"[{kind['extend']}{_JOINER}{kind['spacing']}]*"
    return re.compile(f"\\r\\n|[{kind['prepend']}]*{core}{after}|[{kind['control']}\\r\\n]", re.DOTALL)


def _range(written: str) -> str:
    first, _, last = written.partition("-")
    return f"\\U{int(first, 16):08X}" + (f"-\\U{int(last, 16):08X}" if last else "")


@cache
def clings(character: str) -> bool:
    """Whether a cluster of several characters may hold it: every rule that joins two needs one such."""
    if ord(character) < _ASCII:
        return character == "\r"
    joined = (f"a{character}", f"{character}a", character * 2)
    return any(len(cluster_pattern().findall(two)) < len(two) for two in joined)
