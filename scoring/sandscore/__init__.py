"""sandscore: runs, validates, scores and ranks annotators of clinical text.

    >>> import sandscore as ss
    >>> result = ss.score(
    ...     "date",
    ...     gold="gold/example/date.json",
    ...     predictions="submissions/date-good/predictions.json",
    ...     notes="gold/example/notes.json",
    ... )

What is named here is imported when it is first asked for. The rooms of the house, in the order data flows through them:

- ``base``         nobody's in particular: files, clock, errors
- ``records``      what travels and is published: cards, boards, challenges, submissions, problems
- ``task_table``   what can be annotated: one row a task
- ``annotations``  files to columns, and everything that is wrong with a file
- ``remedies``     causes of a file's problems, and the file mended
- ``formats``      other people's file formats
- ``memory_inputs``  what a notebook holds (DataFrames, spans, documents), written as files of annotations are
- ``documents``    annotations note by note
- ``measures``     columns to counts and measures
- ``leaks``        what of gold no mask covers, by note, patient and class of identifier
- ``span_measures``  measures of overlap and of other packages, beyond those of the challenge
- ``profiles``     other people's scorers
- ``scoring``      files to score cards
- ``original_scores``  files to score cards, as other people's scorers would have it
- ``pooling``      several annotators' gold, or all tasks, as one score card
- ``containers``   container images to predictions
- ``ranking``      score cards to boards, with uncertainty
- ``optional_rules``  rules of ranking that a challenge may choose
- ``challenges``   a challenge's rules, and what teams are told while a phase runs
- ``board_tables`` boards as tables: text, CSV, Markdown, a DataFrame
- ``separation``   two cards compared, and how many patients tell two systems apart
- ``slices``       scores by slice, and on perturbed copies of the notes
- ``verification`` boards again, from their cards
- ``disclosure``   what may leave, to whom
- ``site``         boards to pages
- ``queue``        submissions to results, unattended
- ``api``          what all of this does, as functions
- ``value_views``  values as small tables, in a terminal and in a notebook
- ``cli``          the command line, one module a verb
"""

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandscore.api import Comparison as Comparison
    from sandscore.api import Converted as Converted
    from sandscore.api import InvalidPredictions as InvalidPredictions
    from sandscore.api import MeasureResult as MeasureResult
    from sandscore.api import Perturbed as Perturbed
    from sandscore.api import Problems as Problems
    from sandscore.api import RankedBoard as RankedBoard
    from sandscore.api import Result as Result
    from sandscore.api import Run as Run
    from sandscore.api import SandscoreError as SandscoreError
    from sandscore.api import compare as compare
    from sandscore.api import convert as convert
    from sandscore.api import perturb as perturb
    from sandscore.api import publish as publish
    from sandscore.api import rank as rank
    from sandscore.api import run as run
    from sandscore.api import score as score
    from sandscore.api import tasks as tasks
    from sandscore.api import validate as validate
    from sandscore.api import verify as verify

__all__ = [
    "Comparison",
    "Converted",
    "InvalidPredictions",
    "MeasureResult",
    "Perturbed",
    "Problems",
    "RankedBoard",
    "Result",
    "Run",
    "SandscoreError",
    "compare",
    "convert",
    "perturb",
    "publish",
    "rank",
    "run",
    "score",
    "tasks",
    "validate",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sandscore import api

    value: object = getattr(api, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
