"""Files that scores by group are made of: an organiser's slices, and the record of a perturbed copy."""

from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from sandscore.records.group_scores import GroupName, Natural
from sandscore.records.strict_record import StrictRecord

SlicingName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$")]
MOST_GROUPS = 100


class SlicedMention(StrictRecord):
    """A gold annotation and the group it is in."""

    note: str
    start: Natural
    length: Annotated[int, Field(ge=1)]
    group: GroupName


class SliceFile(StrictRecord):
    """An organiser's slices: the group of each note, or of each gold annotation; what is not named is in none."""

    name: SlicingName
    notes: dict[str, GroupName] | None = None
    mentions: tuple[SlicedMention, ...] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> "SliceFile":
        if (self.notes is None) == (self.mentions is None):
            raise ValueError("expected either 'notes' or 'mentions'")
        groups = {*(self.notes or {}).values(), *(one.group for one in self.mentions or ())}
        if not 0 < len(groups) <= MOST_GROUPS:
            raise ValueError(f"found {len(groups)} groups; expected 1 to {MOST_GROUPS}")
        return self


class MadeChange(StrictRecord):
    """One perturbation of a copy; what it changed in which note is not looked at."""

    model_config = ConfigDict(extra="ignore")
    name: str
    value: str


class CopyRecord(StrictRecord):
    """The record of a perturbed copy, ``changes.json``: of which files it was made, and which it is."""

    sandscore: str
    seed: int
    sources: dict[str, str]
    copies: dict[str, str]
    perturbations: tuple[MadeChange, ...]
