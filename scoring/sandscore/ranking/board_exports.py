"""A board as JSON, and what is said of it everywhere: its leading sentence, its score's name, what was resampled."""

from sandscore.base.terminal_text import UNDEFINED
from sandscore.records.board import AnyMeasure, Board, ComponentMeasure


def as_json(board: Board) -> str:
    return board.model_dump_json(indent=2) + "\n"


def leading_sentence(board: Board) -> str | None:
    """The first row's score, and what to expect of it next time; None where the board does not say."""
    first = next((row for row in board.rows if row.expected is not None), None)
    if first is None or first is not board.rows[0] or first.expected is None or first.chosen_ci is None:
        return None
    rivals = sum(row.expected is not None for row in board.rows)
    measure = first.measures.get(board.headline)
    score = first.score if first.score is not None else measure.ranked if measure else None
    low, high = (f"{end:.3f}" for end in first.chosen_ci)
    said, new = f"{score_name(board)} {_three(score)}", f"on new {resampled_unit(board)}"
    if first.chosen_ci[0] == first.chosen_ci[1]:
        return f"{said}; no error seen: all draws of {resampled_unit(board)} give the same score"
    if rivals == 1:
        return f"{said}; {new} 95 %: {low}–{high}"
    expected = f"chosen as best of {rivals}, so expect about {_three(first.expected)} {new}"
    return f"{said}; {expected} (95 %: {low}–{high}, allowing for the choice)"


def resampled_unit(board: Board) -> str:
    """What the board drew again: notes where nobody says whose they are."""
    return "notes" if any("notes were resampled" in said for said in board.warnings) else "patients"


def score_name(board: Board) -> str:
    """What the score that the board ranks by is called: F1, F2 of a measure that says so, or just the score."""
    measure = _headline(board)
    if any(row.score is not None for row in board.rows) or isinstance(measure, ComponentMeasure):
        return "Score"
    beta = measure.formula.removeprefix("f_beta(").removesuffix(")") if measure and measure.formula else "1"
    return f"F{beta}"


def lower_is_better(board: Board) -> bool:
    """Whether the score that the board ranks by is better where it is lower."""
    ranks = board.config.aggregation in {"borda", "mean_rank"} or board.config.sites == "mean_rank"
    measure = _headline(board)
    return not ranks and measure is not None and measure.direction == "lower"


def _headline(board: Board) -> AnyMeasure | None:
    """The measure that the board ranks by, as any row has it."""
    rules = board.config
    name = next(iter(rules.measures)) if rules.aggregation == "lexicographic" else board.headline
    return next((row.measures[name] for row in board.rows if name in row.measures), None)


def _three(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.3f}"
