"""Other people's names: every name in gold becomes one of a set, and a person keeps it in all notes of a patient.

Surnames stay surnames, given names given names of the same sex where that is known, initials those of the new names;
case, possessives, titles, particles and hyphens stay as they are.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.perturbation.name_sets import NameSet, find_name_set, known_given_names
from sandscore.perturbation.text_edits import Draw, Edit, GoldMention, GoldNote, Perturbation
from sandscore.task_table.task import TASKS

Role = Literal["surname", "given"]
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[̀-ͯ]|['’](?=[^\W\d_]{2}))*")
_TITLE_BEFORE = re.compile(r"(?i)\b(?:dr|mr|mrs|ms|miss|prof|professor|doctor|nurse)\.?\s+$")
_TITLES = frozenset(
    "dr mr mrs ms miss prof professor doctor nurse rev jr sr ii iii iv md phd rn np mph dpm dds facs msw lcsw".split()
)
_DEGREES = frozenset({"DO", "PA", "MS", "MA", "PT", "OT", "RD", "MBBS"})
_PARTICLES = frozenset(
    "van von der den de del della di da do dos das du la le los las el al bin ibn ben ter ten zu y e and of".split()
)
_NAMES = frozenset({*TASKS["person-name"].plain_types, *(foreign for foreign, _ in TASKS["person-name"].standard)})
"""What tasks and labels are called that hold people's names."""


class _Part(Struct, frozen=True):
    """One word of a name where it stands, and its role in it."""

    start: int
    end: int
    word: str
    role: Role

    @property
    def initial(self) -> bool:
        return len(self.word) == 1

    @property
    def key(self) -> str:
        return plain(self.word)


class NameSwap(Perturbation):
    """Names of gold become those of a set of names."""

    name = "swap"
    description = "people's names become those of a set, role for role; a person keeps one within a patient"
    source = "docs/perturbation.md"
    writes = "inside"
    metavar = "names:NAMESET"
    sample = "names:nigeria"

    def __init__(self, value: str) -> None:
        super().__init__(value)
        kind, _, named = value.partition(":")
        if kind != "names" or not named:
            raise UsageFault(f"found '{value}'; expected names: and the name of a set or a file, as in names:nigeria")
        self._set = find_name_set(named)

    @property
    def told(self) -> dict[str, object]:
        return {"names": self._set.name, "sources": [one.model_dump() for one in self._set.sources]}

    def edits(self, notes: Sequence[GoldNote], draw: Draw) -> list[list[Edit]]:
        known = _KnownRoles()
        for note in notes:
            for mention in _name_mentions(note):
                known.learn(note.text, mention)
        new = _Surrogates(self._set, draw, known)
        found: list[list[Edit]] = []
        for note in notes:
            parts = [part for mention in _name_mentions(note) for part in known.parts(note.text, mention)]
            by_place = {(part.start, part.end): part for part in parts}
            found.append([Edit(*place, new.word(part)) for place, part in sorted(by_place.items())])
        return found


def plain(word: str) -> str:
    """What two spellings of a name have in common: neither case nor accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))


def _name_mentions(note: GoldNote) -> Iterator[GoldMention]:
    for mention in note.mentions:
        names = {mention.task.id.upper(), *mention.task.plain_types} & _NAMES
        if names or (mention.label or "").upper() in _NAMES:
            yield mention


class _KnownRoles:
    """Which words are surnames and which given names in a patient's notes, as whole names say."""

    def __init__(self) -> None:
        self._roles: dict[str, set[Role]] = {}
        self.given: list[str] = []
        """Given names as they are first written, in order."""
        self.surnames: list[str] = []

    def learn(self, text: str, mention: GoldMention) -> None:
        groups = _groups(text, mention)
        if groups is None:
            return
        for role, words in groups:
            for word in words:
                if len(word[2]) > 1:
                    self._roles.setdefault(plain(word[2]), set()).add(role)
                    (self.given if role == "given" else self.surnames).append(word[2])

    def parts(self, text: str, mention: GoldMention) -> list[_Part]:
        """The words of a name with their roles."""
        groups = _groups(text, mention)
        if groups is None:
            words = _words(text, mention)
            role = self._single(text, mention, words) if words else "surname"
            groups = [(role, words)]
        return [_Part(*word, self._role(word[2], role)) for role, words in groups for word in words]

    def _role(self, word: str, role: Role) -> Role:
        """A word in the middle may be a surname that other mentions tell."""
        return "surname" if role == "given" and self._roles.get(plain(word)) == {"surname"} else role

    def _single(self, text: str, mention: GoldMention, words: "Sequence[_Word]") -> Role:
        if _TITLE_BEFORE.search(text[max(0, mention.start - 20) : words[0][0]]):
            return "surname"
        roles = self._roles.get(plain(words[0][2]), set())
        if len(roles) == 1:
            return next(iter(roles))
        if roles:
            return "given"
        female, male = known_given_names()
        return "given" if words[0][2].casefold() in female | male else "surname"


_Word = tuple[int, int, str]


def _words(text: str, mention: GoldMention) -> list[_Word]:
    """The words that name somebody: no title, degree, particle or possessive."""
    found = list[_Word]()
    for match in _WORD.finditer(text, mention.start, mention.end):
        word, before = match[0], text[max(mention.start, match.start() - 1) : match.start()]
        possessive = before in {"'", "’"} and word.casefold() == "s"
        degree = word in _DEGREES and "," in text[mention.start : match.start()] and bool(found)
        particle = word.islower() and word in _PARTICLES
        if not (possessive or degree or particle or word.casefold() in _TITLES):
            found.append((match.start(), match.end(), word))
    return found


def _groups(text: str, mention: GoldMention) -> "list[tuple[Role, list[_Word]]] | None":
    """Given names and surnames, where the form of the name tells them apart."""
    words = _words(text, mention)
    comma = text.find(",", mention.start, mention.end)
    before, after = ([word for word in words if (word[0] < comma) == first] for first in (True, False))
    if comma >= 0 and before and after:
        return [("surname", before), ("given", after)]
    whole = [word for word in words if len(word[2]) > 1]
    if not whole or len(words) == 1:
        return None
    first = words.index(whole[-1])
    while first and text[words[first - 1][1] : words[first][0]] in {"-", "‐", "‑"}:
        first -= 1
    if first == 0 and len(words) > 1 and words[-1] not in whole:
        return [("given", words[:1]), ("surname", words[1:])]
    if first == 0:
        return None
    return [("given", words[:first]), ("surname", words[first:])]


class _Surrogates:
    """The new names of one patient's people, given out as they are asked for."""

    def __init__(self, names: NameSet, draw: Draw, known: _KnownRoles) -> None:
        self._names, self._draw, self._known = names, draw, known
        self._given_out: dict[tuple[Role, str], str] = {}
        self._initials: dict[tuple[Role, str], str] = {}
        self._avoided = {plain(word) for word in (*known.given, *known.surnames)}

    def word(self, part: _Part) -> str:
        """What stands for one word, in its case."""
        if part.initial:
            letter = self._initial(part)
            return letter.lower() if part.word.islower() else letter.upper()
        new = self._name(part.word, part.role)
        if part.word.isupper():
            return new.upper()
        return new.lower() if part.word.islower() else new

    def _name(self, word: str, role: Role) -> str:
        key = role, plain(word)
        if key not in self._given_out:
            self._given_out[key] = self._fresh(self._choice(word, role))
        return self._given_out[key]

    def _initial(self, part: _Part) -> str:
        """That of a name which begins so and is written out somewhere, else one for good."""
        words = self._known.given if part.role == "given" else self._known.surnames
        written = next((word for word in words if plain(word)[:1] == part.key), None)
        if written is not None:
            return self._name(written, part.role)[0]
        key = part.role, part.key
        if key not in self._initials:
            self._initials[key] = self._draw.one_of(self._choice("", part.role))[0]
        return self._initials[key]

    def _choice(self, word: str, role: Role) -> Sequence[str]:
        if role == "surname":
            return self._names.surnames
        female, male = known_given_names()
        if word.casefold() in female or word.casefold() in male:
            return self._names.female if word.casefold() in female else self._names.male
        return self._names.female if self._draw.chance(0.5) else self._names.male

    def _fresh(self, names: Sequence[str]) -> str:
        """One that nobody of the patient has or had; where all are given out, any."""
        taken = {*self._avoided, *_plainly(self._given_out.values())}
        free = [name for name in names if plain(name) not in taken]
        return self._draw.one_of(free or names)


def _plainly(words: Iterable[str]) -> Iterator[str]:
    return map(plain, words)
