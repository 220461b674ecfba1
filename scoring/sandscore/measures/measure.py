"""A measure: a row that names itself, counts integers note by note, and says by which formula they make a score.

Extend ``DocumentMeasure`` for a measure of your own: name it, describe it, give it a ``formula`` and a ``count``.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from sandscore.measures.measure_syntax import ParameterisedRow, Scalar
from sandscore.records.document import Document
from sandscore.records.formula import F1, Direction, parse_formula

if TYPE_CHECKING:
    from sandscore.documents.note_spans import NoteSpans, SpanCounts

Settings = Mapping[str, Scalar]
Components = dict[str, int]


class Measure(ParameterisedRow):
    """What every measure says of itself."""

    formula: ClassVar[str | None] = F1
    """Of integer components; None where ratios are made otherwise, and then the measure is shown and not ranked."""
    direction: ClassVar[Direction] = "higher"
    """Which scores are better."""
    of_positions: ClassVar[bool] = False
    """Whether it counts what is masked of the notes' positions, and not annotations."""
    plain: ClassVar[str] = ""
    """What it compares, in words for people who know no measures; {label} stands for the label's name."""
    finding: ClassVar[str] = ""
    """What a system does whose recall it is, such as {find} {share}: the share is one of {things}."""

    @classmethod
    def formula_for(cls, settings: Settings) -> str | None:
        """The formula under these parameters; None where the measure cannot be ranked."""
        return cls.formula

    @classmethod
    def fault(cls) -> str | None:
        """A formula that cannot be read, or a direction that there is not."""
        if cls.direction not in {"higher", "lower"}:
            return f"its direction is '{cls.direction}'; it is 'higher' or 'lower'"
        try:
            parse_formula(cls.formula or "sum(nothing)")
        except ValueError as fault:
            return str(fault)
        return None


class DocumentMeasure(Measure):
    """A measure of any task that looks at one note after another: ``count`` a note, add up, ``score`` the sums."""

    @staticmethod
    def count(document: Document, settings: Settings) -> Components:
        """A note's components, each a whole number from 0; what is not named is 0."""
        raise NotImplementedError

    @classmethod
    def count_spans(cls, spans: "NoteSpans", settings: Settings) -> "SpanCounts | None":
        """The same of all notes at once, with what ``warn`` says; None where notes are to be counted one by one."""
        return None

    @classmethod
    def score(cls, total: Mapping[str, int], settings: Settings) -> dict[str, Any]:
        """What a card shows of the components of all notes together; to be given by a measure without a formula."""
        formula = parse_formula(cls.formula or "")
        components = {name: total.get(name, 0) for name in formula.components}
        return {**components, "score": formula.score(components)}

    @classmethod
    def fault(cls) -> str | None:
        """As every measure's; without a formula it has to say what it shows."""
        if cls.formula is None and cls.score.__func__ is DocumentMeasure.score.__func__:  # type: ignore[attr-defined]
            return "it has neither a formula nor a score of its own"
        return super().fault()

    @classmethod
    def warn(cls, documents: Sequence[Document], settings: Settings) -> tuple[str, ...]:
        """Where the original that a measure is named after counts otherwise on these notes."""
        return ()
