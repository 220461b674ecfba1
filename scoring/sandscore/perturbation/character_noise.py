"""Characters that come out wrong: typing errors, errors of scanning, letters of other scripts that look the same."""

import re
from typing import ClassVar

from sandscore.base.errors import UsageFault
from sandscore.perturbation.text_edits import CharacterPerturbation, Draw, Edit, GoldNote

_LETTER = re.compile(r"[A-Za-z]")
_MOST = 0.5
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEAR = {
    key: "".join(row[at] for at in (place - 1, place + 1) if 0 <= at < len(row))
    for row in _KEYS
    for place, key in enumerate(row)
}
"""The keys left and right of each."""


_CONFUSED = (
    *(("rn", "m"), ("m", "rn"), ("cl", "d"), ("d", "cl"), ("vv", "w"), ("w", "vv"), ("ri", "n"), ("li", "h")),
    *(("l", "1"), ("1", "l"), ("I", "l"), ("O", "0"), ("0", "O"), ("o", "0"), ("S", "5"), ("5", "S"), ("B", "8")),
    *(("8", "B"), ("e", "c"), ("h", "b"), ("6", "b"), ("Z", "2"), ("2", "Z"), ("G", "6"), ("q", "g"), (".", ",")),
)
"""What scanners read for what is printed."""


class TypingErrors(CharacterPerturbation):
    """Letters that are left out, doubled, swapped with the next, or those of the key beside."""

    name = "typos"
    description = "a share of the letters is mistyped: left out, doubled, swapped, or the key beside"
    source = "Damerau 1964, doi 10.1145/363958.363994: the four kinds of single errors; keys of QWERTY"
    metavar = "RATE"
    sample = "0.02"

    def __init__(self, value: str) -> None:
        super().__init__(value)
        try:
            self._rate = float(value)
        except ValueError:
            self._rate = -1
        if not 0 < self._rate <= _MOST:
            raise UsageFault(f"found '{value}'; expected the share of letters, above 0 and up to {_MOST}, as in 0.02")

    def edits_of(self, note: GoldNote, draw: Draw) -> list[Edit]:
        text, found = note.text, list[Edit]()
        at = 0
        for match in _LETTER.finditer(text):
            place = match.start()
            if not draw.chance(self._rate) or place < at:
                continue
            edit = self._error(text, place, draw.below(4), draw)
            found.append(edit)
            at = edit.end
        return found

    @staticmethod
    def _error(text: str, place: int, kind: int, draw: Draw) -> Edit:
        letter, after = text[place], text[place + 1 : place + 2]
        if kind == 0 and _LETTER.match(after) and after != letter:
            return Edit(place, place + 2, after + letter)
        if kind == 1:
            return Edit(place, place + 1, letter * 2)
        if kind == 2:
            return Edit(place, place + 1, "")
        beside = draw.one_of(_NEAR[letter.lower()])
        return Edit(place, place + 1, beside.upper() if letter.isupper() else beside)


class LookAlikes(CharacterPerturbation):
    """Runs of characters that are taken for others at a fixed rate."""

    rate: ClassVar[float]
    taken: ClassVar[dict[str, str]]

    def edits_of(self, note: GoldNote, draw: Draw) -> list[Edit]:
        pattern = "|".join(sorted(map(re.escape, self.taken), key=len, reverse=True))
        hits = re.finditer(pattern, note.text)
        return [Edit(*hit.span(), self.taken[hit[0]]) for hit in hits if draw.chance(self.rate)]


class ScanningErrors(LookAlikes):
    """What optical character recognition takes for something else."""

    name = "ocr"
    description = "2 % of what scanners confuse is confused: rn and m, l and 1, O and 0, cl and d, …"
    source = "docs/perturbation.md"
    rate = 0.02
    taken: ClassVar[dict[str, str]] = dict(_CONFUSED)


class Homoglyphs(LookAlikes):
    """Cyrillic letters that look like Latin ones."""

    name = "homoglyphs"
    description = "10 % of the letters that look alike in Cyrillic are Cyrillic"
    source = "Unicode Technical Standard 39, confusables"
    rate = 0.1
    taken: ClassVar[dict[str, str]] = dict(zip("aceopxyisjABCEHIKMOPSTXY", "асеорхуіѕјАВСЕНІКМОРЅТХҮ", strict=True))
