"""Leak measures: what of gold stays open under the masks, and what is masked that is not gold's.

``docs/leaks.md`` says what each number means. All are counted in cells of a grid (characters, content, graphemes), as
sets: labels, order and the number of predictions change nothing. ``class`` restricts the mentions; masks stay whole.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints, Mask, Small, distinct
from sandscore.base.errors import UsageFault
from sandscore.leaks.identifier_classes import CLASSES
from sandscore.leaks.open_rows import OpenPart, OpenRows
from sandscore.leaks.text_grids import TextGrid
from sandscore.measures.measure import Measure, Settings
from sandscore.measures.measure_syntax import Named, Parameter
from sandscore.records.formula import RATIO, Direction, parse_formula

_DOCUMENTED = "docs/leaks.md"
ALL = "all"
UNIT = Parameter("unit", "chars", choices=("chars", "content", "graphemes"))
CLASS = Parameter("class", ALL, choices=(ALL, *CLASSES))
WEIGHTS = Parameter("weights", "", file=True)
_BY = Parameter("by", "id", choices=("id", "text"))


Pair = tuple[Ints | Small, Ints | Small]
"""How much of what, and of how much, group by group."""


class OpenMentions(Struct, frozen=True):
    """Mentions that count, and whether anything of them is open; ``note`` counts from the data set's first."""

    note: Ints
    start: Ints
    length: Ints
    label: Ints
    entity: Ints
    text: Ints
    leaking: Mask


class Grouped(Struct, frozen=True):
    """Mentions in groups, of which each unit counts once: a note, a patient, an entity of a patient."""

    group: Ints
    unit: Ints
    leaking: Mask

    def once(self) -> "Grouped":
        """Every unit of a group once; it leaks if any of its mentions does."""
        kept = self.group >= 0
        units = 1 + int(self.unit.max(initial=0))
        keys = self.group[kept] * units + self.unit[kept]
        there = distinct(keys)[0]
        leaking = np.zeros(len(there), bool)
        leaking[np.searchsorted(there, keys[self.leaking[kept]])] = True
        return Grouped(there // units, there % units, leaking)

    def counted(self, groups: int) -> Pair:
        """Leaking units and units of each group."""
        return np.bincount(self.group[self.leaking], minlength=groups), np.bincount(self.group, minlength=groups)


class LeakMeasure(Measure):
    """A measure of positions: what of it, and of how much."""

    formula = RATIO
    direction: ClassVar[Direction] = "lower"
    of_positions = True
    source = _DOCUMENTED
    needs_text: ClassVar[bool] = False
    """Whether it can only be told from the notes' text."""
    grouped: ClassVar[bool] = False
    """Whether it is told by label and class as well."""

    @classmethod
    def grid(cls, settings: Settings, words: frozenset[str] | None) -> TextGrid:
        """In what it counts."""
        unit = settings.get("unit", "chars")
        return TextGrid(unit)  # type: ignore[arg-type]

    @classmethod
    def refusal(cls, settings: Settings) -> str | None:
        """Why these parameters do not go together."""
        return None


class NoteLeakMeasure(LeakMeasure):
    """One that adds up over notes."""

    @classmethod
    def tally(cls, rows: OpenRows, settings: Settings) -> Pair:
        """How much of what, and of how much, row by row."""
        raise NotImplementedError

    @classmethod
    def per_note(cls, part: OpenPart, rows: OpenRows, totals: Ints | None, settings: Settings) -> Ints:
        """A row a note, whose cells are so many; ``rows`` are those of the notes or of the class that counts."""
        return summed(rows.note, cls.tally(rows, settings), len(part.masked))


class UnitLeakMeasure(LeakMeasure):
    """One that is told patient by patient, whatever notes they have."""

    grouped = True

    @classmethod
    def restricted(cls, settings: Settings) -> str:
        """The class that counts."""
        return str(settings["class"])

    @classmethod
    def tally(cls, mentions: OpenMentions, patient: Ints, group: Ints, groups: int, settings: Settings) -> Pair:
        """Of mentions in groups; patient by patient, a group is a patient."""
        raise NotImplementedError


class CharacterLeak(NoteLeakMeasure):
    """Gold characters that stay open."""

    name = "char_leak"
    plain = "characters left open"
    description = "share of gold characters that no mask covers"
    parameters = (UNIT, CLASS, WEIGHTS)
    grouped = True

    @classmethod
    def tally(cls, rows: OpenRows, settings: Settings) -> Pair:
        return rows.open, rows.gold

    @classmethod
    def weighed(cls, labels: OpenRows, notes: int, weights: Ints) -> Ints:
        """A row a note, labels weighing as much as they are given; that of no label is in front."""
        each = weights[labels.group + 1]
        found = np.zeros((notes, 2), np.int64)
        np.add.at(found, labels.note, np.stack((each * labels.open, each * labels.gold), axis=1))
        return found


class MentionLeak(NoteLeakMeasure):
    """Mentions of which something stays open, or all."""

    name = "mention_leak"
    plain = "mentions left open"
    description = "share of mentions of which a character (any) or every character (full) is open"
    parameters = (Parameter("part", "any", choices=("any", "full")), UNIT, CLASS)
    grouped = True

    @classmethod
    def tally(cls, rows: OpenRows, settings: Settings) -> Pair:
        return rows.leaking if settings["part"] == "any" else rows.whole, rows.mentions


class LeakingNotes(NoteLeakMeasure):
    """Notes in which something stays open."""

    name = "note_leak"
    plain = "notes leaking"
    description = "share of notes with gold in which a gold character is open"
    parameters = (UNIT, CLASS)
    grouped = True

    @classmethod
    def tally(cls, rows: OpenRows, settings: Settings) -> Pair:
        return (rows.leaking > 0).astype(np.int64), (rows.mentions > 0).astype(np.int64)


class EntityLeak(UnitLeakMeasure):
    """Entities of which a mention leaks in any note of the patient."""

    name = "entity_leak"
    plain = "entities left open"
    description = "share of entities of which any mention in any note of the patient is not wholly masked"
    source = "1 - TAB's entity recall, without its ignored words; docs/leaks.md"
    parameters = (_BY, UNIT, CLASS)

    @classmethod
    def tally(cls, mentions: OpenMentions, patient: Ints, group: Ints, groups: int, settings: Settings) -> Pair:
        entity = patient * (1 + int(mentions.entity.max(initial=0))) + mentions.entity
        return Grouped(group, entity, mentions.leaking).once().counted(groups)


class LeakingPatients(UnitLeakMeasure):
    """Patients of whom anything leaks, or at least ``quasi`` different quasi-identifiers."""

    name = "patient_leak"
    plain = "patients leaking"
    description = "share of patients of whom a gold character is open in any note; quasi=k: k different quasi entities"
    source = "Scaiano et al. 2016, doi 10.1016/j.jbi.2016.07.015; docs/leaks.md"
    parameters = (CLASS, Parameter("quasi", 0, least=0, most=100), _BY, UNIT)

    @classmethod
    def refusal(cls, settings: Settings) -> str | None:
        if settings["quasi"] and settings["class"] not in {ALL, "quasi"}:
            return f"quasi={settings['quasi']} counts quasi-identifiers; leave out class={settings['class']}"
        return None

    @classmethod
    def restricted(cls, settings: Settings) -> str:
        return "quasi" if settings["quasi"] else str(settings["class"])

    @classmethod
    def tally(cls, mentions: OpenMentions, patient: Ints, group: Ints, groups: int, settings: Settings) -> Pair:
        least = int(settings["quasi"])
        if not least:
            return Grouped(group, patient, mentions.leaking).once().counted(groups)
        room = 1 + int(mentions.entity.max(initial=0))
        entities = Grouped(group, patient * room + mentions.entity, mentions.leaking).once()
        patients = 1 + int(patient.max(initial=0))
        cell = entities.group * patients + entities.unit // room
        cells = distinct(cell)[0]
        place = np.searchsorted(cells, cell)
        has = np.bincount(place, minlength=len(cells)) >= least
        leaks = np.bincount(place[entities.leaking], minlength=len(cells)) >= least
        owner = cells // patients
        return np.bincount(owner[leaks], minlength=groups), np.bincount(owner[has], minlength=groups)


class CharacterPrecision(NoteLeakMeasure):
    """Masked characters that are gold's."""

    name = "char_precision"
    description = "share of masked characters that are gold's"
    direction: ClassVar[Direction] = "higher"
    parameters = (UNIT,)

    @classmethod
    def per_note(cls, part: OpenPart, rows: OpenRows, totals: Ints | None, settings: Settings) -> Ints:
        tp, fp, _ = hits(part)
        return np.stack((tp, tp + fp), axis=1)


class OverMask(NoteLeakMeasure):
    """Text that should have stayed and did not."""

    name = "over_mask"
    plain = "text masked for nothing"
    description = "share of the text outside gold that is masked"
    parameters: ClassVar[tuple[Parameter, ...]] = (UNIT,)
    needs_text = True

    @classmethod
    def per_note(cls, part: OpenPart, rows: OpenRows, totals: Ints | None, settings: Settings) -> Ints:
        tp, fp, fn = hits(part)
        return np.stack((fp, (tp + fn if totals is None else totals) - tp - fn), axis=1)


class OverMaskedWords(OverMask):
    """Words that should have stayed and are touched."""

    name = "over_mask_words"
    description = "share of words without a gold character of which a character is masked"
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    @classmethod
    def grid(cls, settings: Settings, words: frozenset[str] | None) -> TextGrid:
        return TextGrid("words", words)


class ClinicalLoss(OverMaskedWords):
    """Clinical words that should have stayed and are touched."""

    name = "clinical_loss"
    description = "over_mask_words of the words of a clinical vocabulary"
    source = "after arXiv 2509.14464; docs/leaks.md"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("words", "", file=True, sample="Anna\nMay\n12\n"),)


class CleanNotesTouched(NoteLeakMeasure):
    """Notes without gold in which something is masked."""

    name = "clean_notes_touched"
    description = "share of notes without gold in which something is masked"

    @classmethod
    def per_note(cls, part: OpenPart, rows: OpenRows, totals: Ints | None, settings: Settings) -> Ints:
        clean = np.bincount(rows.note, minlength=len(part.masked)) == 0
        return np.stack((clean & (part.masked > 0), clean), axis=1).astype(np.int64)


class CharacterF(NoteLeakMeasure):
    """F-beta of characters; with weights, recall is that of the weighed labels and the score cannot rank."""

    name = "char_f"
    description = "F-beta of gold and masked characters; Presidio recommends beta=2"
    source = "Presidio's evaluation, on positions; docs/leaks.md"
    direction: ClassVar[Direction] = "higher"
    parameters = (Parameter("beta", "2"), UNIT, WEIGHTS)

    @classmethod
    def refusal(cls, settings: Settings) -> str | None:
        try:
            parse_formula(_f_beta(settings))
        except ValueError:
            return f"beta={settings['beta']} is neither a number nor a ratio of two: write beta=2, beta=0.5 or beta=1/3"
        return None

    @classmethod
    def formula_for(cls, settings: Settings) -> str | None:
        return None if settings["weights"] or cls.refusal(settings) else _f_beta(settings)

    @classmethod
    def per_note(cls, part: OpenPart, rows: OpenRows, totals: Ints | None, settings: Settings) -> Ints:
        return np.stack(hits(part), axis=1)

    @classmethod
    def value(cls, counts: Mapping[str, int], weighed: tuple[int, int] | None, settings: Settings) -> float | None:
        """The score; with what of the weighed labels is open, and of how much, that which cannot rank."""
        if weighed is None:
            return parse_formula(_f_beta(settings)).score(counts)
        masked, (n, of) = counts["tp"] + counts["fp"], weighed
        if not masked or not of:
            return None
        precision, recall = Fraction(counts["tp"], masked), 1 - Fraction(n, of)
        square = Fraction(str(settings["beta"])) ** 2
        below = square * precision + recall
        return float((1 + square) * precision * recall / below) if below else 0.0


def _f_beta(settings: Settings) -> str:
    return f"f_beta({settings['beta']})"


def hits(part: OpenPart) -> tuple[Ints, Ints, Ints]:
    """Cells of each note that are gold's and masked, masked alone, and gold's alone."""
    rows = part.whole
    fn, gold = summed(rows.note, (rows.open, rows.gold), len(part.masked)).T
    return gold - fn, part.spurious, fn


def summed(group: Ints, pair: Pair, groups: int) -> Ints:
    """A row a group, of which none is below 0; exact, since sums stay far below 2^53."""
    columns = [np.bincount(group, weights=column, minlength=groups).astype(np.int64) for column in pair]
    return np.stack(columns, axis=1)


def refuse(measure: Named, row: type[LeakMeasure], *, with_text: bool) -> None:
    """Parameters that do not go together, files that are not given, text that is not there."""
    settings: dict[str, Any] = row.settle(measure)
    if said := row.refusal(settings):
        raise UsageFault(f"the measure '{measure}': {said}")
    if "words" in settings and not settings["words"]:
        raise UsageFault(f"the measure '{measure}' needs words=FILE, a vocabulary with a word in each line")
    if not with_text and (row.needs_text or settings.get("unit", "chars") != "chars"):
        raise UsageFault(f"the measure '{measure}' is told from the notes' text: give --notes")
