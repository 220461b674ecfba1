"""Labels as small integers, normalised as the task's schema allows them to be written."""

from collections.abc import Mapping
from types import MappingProxyType

from sandscore.annotations.columns import Columns
from sandscore.base.arrays import np
from sandscore.task_table.task import Task

ABSENT = -1
NO_ALIASES: Mapping[str, str] = MappingProxyType({})


def allowed(task: Task, field: str) -> tuple[str, ...] | None:
    """What one of the task's labels may be; None for free text."""
    return task.label_fields[field] or None


def normalised(written: str, values: tuple[str, ...] | None, aliases: Mapping[str, str] = NO_ALIASES) -> str | None:
    """The label meant, "" where none is; None where it is not one of the allowed values.

    Enum labels are trimmed and lower-cased (ASCII letters only); free text stays as it is.
    """
    bare = written.strip()
    if not bare:
        return ""
    if values is None:
        return written
    lowered = bare.lower() if bare.isascii() else bare
    lowered = aliases.get(lowered, lowered)
    return lowered if lowered in values else None


def vocabulary(task: Task, field: str | None) -> "LabelCodes":
    """An empty vocabulary for one of the task's label fields."""
    return LabelCodes(allowed(task, field), dict(task.aliases)) if field else LabelCodes(None)


def renumber(columns: Columns, known: "LabelCodes", other: "LabelCodes") -> None:
    """Turn labels of one vocabulary into those of another, which learns the names it does not know."""
    translated = np.array([ABSENT, *(other[name] for name in known.names)], np.int32)
    if bool((translated[1:] != np.arange(len(known.names))).any()):
        for _, piece in columns.pieces():
            piece.label[:] = translated[piece.label + 1]


class LabelCodes(dict[str | None, int]):
    """Written label to code, looked up once per spelling; codes count up in order of first appearance."""

    def __init__(self, values: tuple[str, ...] | None, aliases: Mapping[str, str] = NO_ALIASES) -> None:
        super().__init__({None: ABSENT, "": ABSENT})
        self._allowed, self._aliases = values, aliases
        self.names: list[str] = list(values or ())
        self._codes = {name: code for code, name in enumerate(self.names)}

    def copy(self) -> "LabelCodes":
        """One that goes on learning by itself."""
        twin = LabelCodes(self._allowed, self._aliases)
        twin.update(self)
        twin.names, twin._codes = list(self.names), dict(self._codes)
        return twin

    def learn(self, names: list[str]) -> None:
        """Number names in this order, unless they are known."""
        for name in names:
            self[name]

    def __missing__(self, written: str) -> int:
        """Raises KeyError for a label the schema does not allow."""
        name = normalised(written, self._allowed, self._aliases) if written else ""
        if name is None:
            raise KeyError(written)
        code = ABSENT
        if name:
            code = self._codes.setdefault(name, len(self.names))
            if code == len(self.names):
                self.names.append(name)
        self[written] = code
        return code
