"""The values that the library's functions return.

Each has a plain ``repr`` for a terminal, a small table for a notebook, and ``to_dict()``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

from sandscore.api.output_files import save_json, write
from sandscore.base.errors import UsageFault
from sandscore.base.removable_rooms import REMOVABLE, part_of_a_room
from sandscore.records.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from sandscore.records.board import Board
    from sandscore.records.diagnosis import Diagnosis
    from sandscore.records.scorecard import AnyScore, Scorecard

HEADLINE = "instance_strict"
Interval = tuple[float, float] | None
QUICK_UNITS = 5_000
"""Patients up to which looking at a result computes its intervals."""


class ShownValue:
    """Something that is looked at as a small table, where the room for that is there."""

    shown_by: ClassVar[str]
    """What makes the table of it."""

    def __repr__(self) -> str:
        return self._shown("as_text") or super().__repr__()

    def _repr_html_(self) -> str | None:
        return self._shown("as_html")

    def _shown(self, form: str) -> str | None:
        view, written = part_of_a_room(self.shown_by), part_of_a_room(f"value_views.value_tables:{form}")
        return str(written(view(self))) if view and written else None


class Problems(ShownValue, Sequence[Problem]):
    """Everything that is wrong with an input, in its order.

    At most 10,000 problems of each code are listed; ``counts`` counts them all. ``remarks`` say what was understood
    in a way that might have been meant otherwise. ``diagnosis`` names the causes of
    many problems at once, the one of the whole input first.

    >>> problems = ss.validate("date", {"101-01": [{"start": 0, "length": 5, "text": "May"}]})
    >>> problems.ok, [problem.code for problem in problems.errors]
    (False, ['text-mismatch'])
    """

    shown_by = "value_views.views_of_values:problems_view"

    def __init__(
        self,
        found: Sequence[Problem],
        counts: Mapping[str, int],
        remarks: Sequence[str] = (),
        diagnosis: "Sequence[Diagnosis]" = (),
        fixed: Callable[[], bytes] | None = None,
    ) -> None:
        self._found, self.counts, self.remarks = tuple(found), dict(sorted(counts.items())), tuple(remarks)
        self.diagnosis, self._fixed = tuple(diagnosis), fixed

    @overload
    def __getitem__(self, place: int) -> Problem: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Problem]: ...
    def __getitem__(self, place: int | slice) -> Problem | Sequence[Problem]:
        return self._found[place]

    def __len__(self) -> int:
        return len(self._found)

    @property
    def errors(self) -> list[Problem]:
        """What keeps the input from being scored."""
        return [problem for problem in self._found if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        """What is scored, but hardly meant."""
        return [problem for problem in self._found if problem.severity == "warning"]

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not self.errors

    def fixed(self) -> bytes:
        """The input as bytes of a file, mended by its diagnosis; refused where that cannot be proven to be right.

        >>> moved = {"101-01": [{"start": 191, "length": 11, "text": "22 Jul 1951"}]}
        >>> problems = ss.validate("date", moved, notes=notes)
        >>> problems.diagnosis[0].sentence
        '1 of 1 texts stand where you say if every start is one smaller: your offsets begin at 1'
        >>> ss.validate("date", problems.fixed(), notes=notes).ok
        True
        """
        if self._fixed is None:
            raise UsageFault("only what validate was given can be mended: these problems are of something else")
        return self._fixed()

    def to_dict(self) -> dict[str, Any]:
        """What ``sandscore validate --format json`` prints."""
        from msgspec.structs import asdict

        problems = [asdict(problem) for problem in self._found]
        return {
            "diagnosis": [one.to_dict() for one in self.diagnosis],
            "problems": problems,
            "counts": self.counts,
        }

    def to_pandas(self) -> "pd.DataFrame":
        """A row a problem."""
        return _pandas().DataFrame(self.to_dict()["problems"], columns=[*Problem.__struct_fields__])

    def save(self, path: str | Path) -> None:
        """Write the problems as JSON."""
        save_json(path, self.to_dict())


class MeasureResult(ShownValue):
    """One measure of a result: counts, ratios and, when asked for, the interval of F1.

    >>> result = ss.score("date", gold=gold, predictions=predictions, notes=notes)
    >>> token = result["token"]
    >>> token.tp, token.fp, token.fn
    (1077, 32, 75)
    """

    shown_by = "value_views.views_of_values:measure_view"

    def __init__(self, name: str, score: "AnyScore", result: "Result") -> None:
        self.name, self.score, self.result = name, score, result

    @property
    def tp(self) -> int | None:
        return self.score.tp

    @property
    def fp(self) -> int | None:
        return self.score.fp

    @property
    def fn(self) -> int | None:
        return self.score.fn

    @property
    def precision(self) -> float | None:
        return self.score.precision

    @property
    def recall(self) -> float | None:
        return self.score.recall

    @property
    def f1(self) -> float | None:
        return self.score.f1

    @property
    def interval(self) -> Interval:
        """95 % over patients; None where too many resamples leave F1 undefined, or a measure has no counts."""
        found = self.result.intervals(self.name).get(self.name)
        if found is None or not str(getattr(self.score, "formula", "")).startswith("sum("):
            return found
        units = len(set(self.result.card.units.values()))
        return found[0] * units, found[1] * units


class Result(ShownValue):
    """A score card, with intervals that are computed when they are asked for.

    ``result[measure]`` is one of its measures; ``f1`` and ``interval`` are those of ``instance_strict``.
    ``problems`` are those of the predictions, ``remarks`` say what was understood in a way that might have been
    meant otherwise.

    >>> result = ss.score("date", gold=gold, predictions=predictions, notes=notes)
    >>> round(result.f1, 3), round(result["token"].recall, 3)
    (0.934, 0.935)
    >>> low, high = result.interval
    >>> low < result.f1 < high
    True
    """

    shown_by = "value_views.views_of_values:result_view"

    def __init__(self, card: "Scorecard", problems: Problems, remarks: Sequence[str] = ()) -> None:
        self.card, self.problems, self.remarks = card, problems, tuple(remarks)
        self._intervals: dict[str, dict[str, Interval]] = {}

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of its measures."""
        return tuple(self.card.measures)

    def __getitem__(self, measure: str) -> MeasureResult:
        if measure not in self.card.measures:
            raise UsageFault(f"the result has no measure {measure!r}; it has {', '.join(self.measures)}")
        return MeasureResult(measure, self.card.measures[measure], self)

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    @property
    def f1(self) -> float | None:
        """F1 of ``instance_strict``; None where there is nothing to divide by."""
        return self[HEADLINE].f1

    @property
    def interval(self) -> Interval:
        """The interval of that: 95 % over patients, 10,000 resamples, the seed a board of this card has."""
        return self[HEADLINE].interval

    def intervals(self, measure: str = HEADLINE) -> dict[str, Interval]:
        """All intervals of the board on which this card stands alone; its headline is the usual one if it has it."""
        from sandscore.ranking.measure_intervals import card_intervals

        headline = HEADLINE if HEADLINE in self._counted else measure
        if headline not in self._counted:
            return {}
        if headline not in self._intervals:
            self._intervals[headline] = card_intervals(self.card, headline)
        return self._intervals[headline]

    @cached_property
    def _counted(self) -> tuple[str, ...]:
        from sandscore.ranking.card_reading import ranked_measures

        return ranked_measures(self.card)

    @cached_property
    def patients(self) -> int:
        """How many patients (or notes, where no patient is known) an interval rests on."""
        return len(set(self.card.units.values()))

    @property
    def card_bytes(self) -> bytes:
        """The card as ``sandscore score -o`` writes it."""
        from sandscore.scoring.card_building import dumped

        return dumped(self.card)

    def to_dict(self) -> dict[str, Any]:
        """The card as plain values."""
        import msgspec

        plain: dict[str, Any] = msgspec.json.decode(self.card_bytes)
        return plain

    def save(self, path: str | Path) -> None:
        """Write the card: what ``sandscore score -o`` writes."""
        from sandscore.scoring.card_building import pieces

        write(path, pieces(self.card))


class RankedBoard(ShownValue):
    """A board: submissions in order, best first, with everything a stranger needs to recompute them.

    >>> ranked = ss.rank(["leaderboard/cards/date-good.json", "leaderboard/cards/date-weak.json"])
    >>> [row.submission for row in ranked.board.rows]
    ['date-good', 'date-weak']
    """

    shown_by = "value_views.views_of_values:board_view"

    def __init__(self, board: "Board") -> None:
        self.board = board

    def __len__(self) -> int:
        return len(self.board.rows)

    def to_dict(self) -> dict[str, Any]:
        """The board as plain values."""
        return self.board.model_dump(mode="json")

    def to_pandas(self) -> "pd.DataFrame":
        """A row a submission."""
        with REMOVABLE:
            from sandscore.board_tables.board_formats import records

        return _pandas().DataFrame(records(self.board))

    def save(self, path: str | Path) -> None:
        """Write the board: what ``sandscore rank -o`` writes."""
        from sandscore.ranking.board_exports import as_json

        write(path, [as_json(self.board).encode()])


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise UsageFault("to_pandas() needs pandas: pip install 'sandscore[reports]'") from None
    return pd
