"""The values that the library's functions return.

Each has a plain ``repr`` for a terminal, a small table for a notebook, and ``to_dict()``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from sandscore.api.output_files import save_json, write
from sandscore.api.value_views import (
    SHOWN_ROWS,
    IntervalBar,
    ShownValue,
    ValueView,
    count_text,
    interval_text,
    ratio_text,
)
from sandscore.base.errors import UsageFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.base.terminal_text import UNDEFINED
from sandscore.records.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from sandscore.records.board import Board, Row
    from sandscore.records.diagnosis import Diagnosis
    from sandscore.records.scorecard import AnyScore, Scorecard

HEADLINE = "instance_strict"
Interval = tuple[float, float] | None
QUICK_UNITS = 5_000
"""Patients up to which looking at a result computes its intervals."""


class Problems(ShownValue, Sequence[Problem]):
    """Everything that is wrong with an input, in its order.

    At most 10,000 problems of each code are listed; ``counts`` counts them all. ``remarks`` say what was understood
    in a way that might have been meant otherwise. ``diagnosis`` names the causes of
    many problems at once, the one of the whole input first.

    >>> problems = ss.validate("date", {"101-01": [{"start": 0, "length": 5, "text": "May"}]})
    >>> problems.ok, [problem.code for problem in problems.errors]
    (False, ['text-mismatch'])
    """

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

    def _view(self) -> ValueView:
        ordered = sorted(self._found, key=lambda problem: problem.severity)[:SHOWN_ROWS]
        rows = [(p.severity, p.code, p.pointer, p.message) for p in ordered]
        left = sum(self.counts.values()) - len(rows)
        said = ", ".join(f"{code} {count:,}" for code, count in self.counts.items())
        verdict = "valid" if self.ok else "not valid"
        title = f"{verdict}{f', with warnings: {said}' if self.ok and said else f': {said}' if said else ''}"
        more = [*([f"… and {left:,} more"] if left > 0 else []), *self.remarks]
        more += [f"{one.sentence}{'; fixed() mends it' if one.fixable else ''}" for one in self.diagnosis]
        return ValueView(title, ("severity", "code", "place", "problem"), rows, remarks=more, texts=4)


class MeasureResult(ShownValue):
    """One measure of a result: counts, ratios and, when asked for, the interval of F1.

    >>> result = ss.score("date", gold=gold, predictions=predictions, notes=notes)
    >>> token = result["token"]
    >>> token.tp, token.fp, token.fn
    (1077, 32, 75)
    """

    def __init__(self, name: str, score: "AnyScore", result: "Result") -> None:
        self.name, self.score, self._result = name, score, result

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
        found = self._result.intervals(self.name).get(self.name)
        if found is None or not str(getattr(self.score, "formula", "")).startswith("sum("):
            return found
        units = len(set(self._result.card.units.values()))
        return found[0] * units, found[1] * units

    def _view(self) -> ValueView:
        return self._result._view_of([self.name])


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

    def _view(self) -> ValueView:
        return self._view_of(self.measures)

    def _view_of(self, measures: Sequence[str]) -> ValueView:
        """Some of its measures, for people."""
        card = self.card
        quick = self.patients <= QUICK_UNITS
        intervals = {name: self[name].interval if quick else None for name in measures}
        rows = [
            (
                name,
                *(count_text(count) for count in (score.tp, score.fp, score.fn)),
                *(ratio_text(ratio) for ratio in (score.precision, score.recall, score.f1)),
                interval_text(intervals[name]),
            )
            for name, score in card.measures.items()
            if name in intervals
        ]
        bars = [
            IntervalBar(score.ranked, intervals[name]) for name, score in card.measures.items() if name in intervals
        ]
        title = (
            f"{card.submission or card.team or card.task}: task {card.task}, profile {card.profile}, "
            f"{card.notes:,} notes, "
            f"{card.gold_annotations:,} annotations in gold, {card.predicted_annotations:,} predicted"
        )
        said = [*card.warnings, *self.remarks]
        if self.problems:
            counts = ", ".join(f"{code} {count:,}" for code, count in self.problems.counts.items())
            said.append(f"problems of the predictions: {counts}")
        if not quick:
            said.append(f"{self.patients:,} patients: intervals are computed when asked for (result.interval)")
        heads = ("measure", "tp", "fp", "fn", "precision", "recall", "F1", "95 % interval")
        return ValueView(title, heads, rows, bars, said)


class RankedBoard(ShownValue):
    """A board: submissions in order, best first, with everything a stranger needs to recompute them.

    >>> ranked = ss.rank(["leaderboard/cards/date-good.json", "leaderboard/cards/date-weak.json"])
    >>> [row.submission for row in ranked.board.rows]
    ['date-good', 'date-weak']
    """

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

    def _view(self) -> ValueView:
        shown = self.board.rows[:SHOWN_ROWS]
        scores = [row.measures.get(self.board.headline) for row in shown]
        intervals = [
            row.chosen_ci or (score.ranked_ci if score else None) for row, score in zip(shown, scores, strict=True)
        ]
        rows = [
            (
                _place_text(row),
                row.submission,
                row.team or "",
                ratio_text(score.ranked if score else None),
                interval_text(interval),
                ratio_text(row.expected),
            )
            for row, score, interval in zip(shown, scores, intervals, strict=True)
        ]
        bars = [
            IntervalBar(score.ranked if score else None, span) for score, span in zip(scores, intervals, strict=True)
        ]
        left = len(self.board.rows) - len(shown)
        said = [*([f"… and {left:,} more"] if left else []), *self.board.warnings]
        heads = ("rank", "submission", "team", "F1", "95 % interval", "expected")
        title = f"task {self.board.task}, ranked by {self.board.headline}, {self.board.units:,} units"
        return ValueView(title, heads, rows, bars, said, texts=3)


def _place_text(row: "Row") -> str:
    rank = UNDEFINED if row.rank is None else f"{row.rank:g}"
    return (
        rank if row.rank_set is None or row.rank_set[0] == row.rank_set[1] else "{} ({}–{})".format(rank, *row.rank_set)
    )


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise UsageFault("to_pandas() needs pandas: pip install 'sandscore[reports]'") from None
    return pd
