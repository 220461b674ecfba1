"""The fields of a board that its policy keeps back, as JSON Pointers in which ``*`` is every row or every measure.

While exact scores are hidden this is all but a few: a field that boards gain tomorrow is kept back until somebody
lets it out.
"""

import re
from collections.abc import Iterable, Set
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel

from sandscore.records.board import Board, BoardPolicy, FormulaMeasure, RankedMeasure, RatioMeasure, Row
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.ranking_rules import BoardRules, FeedbackMode

_Record = TypeVar("_Record", bound=BaseModel)
CHOSEN_COLUMNS = ("image", "created", "run")
"""What a row says about its maker: shown where the organiser's list of columns names it."""
CARD_FIELDS = frozenset({"/rows/*/card", "/rows/*/sites/*/card"})
PATIENT_FIELDS = frozenset({"/pairwise/*/patients"})
"""What compares patients one by one: shown where cards have a count for each note."""
_MADE_OF = {"sandscore", "task", "definition", "profile", "phase", "headline", "config"}
_MADE_BY = {"seed", "gold", "units", "adjustment"}
_SHOWN = frozenset({*_MADE_OF, *_MADE_BY, "rows", "policy", "withheld", "log_root", "agreement"})
_SHOWN_OF_ROW = frozenset({"rank", "team", "name", "submission", "image", "created", "measures"})
_SHOWN_OF_MEASURE = frozenset({"f1", "score", "value", "formula", "direction", "plugin"})
_SCORES = frozenset({"rank", "measures"})


def running_fields(mode: FeedbackMode) -> set[str]:
    """What is kept back while exact scores are hidden."""
    measures = {name for record in (RankedMeasure, FormulaMeasure, RatioMeasure) for name in record.model_fields}
    found = {f"/{name}" for name in Board.model_fields.keys() - _SHOWN}
    found |= {f"/rows/*/{name}" for name in Row.model_fields.keys() - _of_row(mode)}
    return found | {f"/rows/*/measures/*/{name}" for name in measures - _SHOWN_OF_MEASURE}


def without_running_fields(board: Board, mode: FeedbackMode) -> Board:
    """The board with nothing in any of them."""
    rows = []
    for row in board.rows:
        measures = {name: _bared(measure, _SHOWN_OF_MEASURE) for name, measure in row.measures.items()}
        rows.append(_bared(row.model_copy(update={"measures": measures}), _of_row(mode)))
    return _bared(board, _SHOWN).model_copy(update={"rows": tuple(rows)})


def policy_on(policy: BoardPolicy | None, rules: BoardRules) -> DisclosurePolicy:
    """The policy that a board names. One that names none was ranked without a challenge: its scores are its maker's to
    show, and its cards go as totals."""
    if policy is not None:
        return DisclosurePolicy(**policy.model_dump())
    return DisclosurePolicy(notes="teams", gold="retired", feedback=rules.feedback, ended=rules.ended)


def permitted_fields(policy: DisclosurePolicy) -> set[str]:
    """What a board under this policy may keep back."""
    chosen = {f"/rows/*/{name}" for name in CHOSEN_COLUMNS}
    return chosen | CARD_FIELDS | PATIENT_FIELDS if policy.exact else chosen | running_fields(policy.feedback)


def covering(pointers: Iterable[str]) -> re.Pattern[str]:
    """Matches every pointer into what one of these names."""
    forms = [re.escape(pointer).replace(r"\*", "[^/]*") for pointer in pointers]
    return re.compile(f"(?:{'|'.join(forms)})(?:[/ ].*)?" if forms else "(?!)", re.DOTALL)


def _of_row(mode: FeedbackMode) -> Set[str]:
    return _SHOWN_OF_ROW - _SCORES if mode == "blind" else _SHOWN_OF_ROW


def _bared(record: _Record, kept: Set[str]) -> _Record:
    """The record with nothing in the fields that are not kept."""
    fields = type(record).model_fields
    return record.model_copy(update={name: _nothing(fields[name].annotation) for name in fields.keys() - kept})


def _nothing(annotation: Any) -> Any:
    if annotation is NoneType or NoneType in get_args(annotation):
        return None
    return {} if get_origin(annotation) is dict else ()
