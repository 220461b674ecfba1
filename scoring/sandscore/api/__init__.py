"""The library: what every verb does, as typed functions; importing this package imports nothing else yet."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandscore.annotations.input_files import ReadingWatch as ReadingWatch
    from sandscore.api.archive_calls import CheckedArchive as CheckedArchive
    from sandscore.api.archive_calls import check_archive as check_archive
    from sandscore.api.comparison_calls import ComparisonInputs as ComparisonInputs
    from sandscore.api.comparison_calls import PowerAnswer as PowerAnswer
    from sandscore.api.comparison_calls import compare as compare
    from sandscore.api.comparison_calls import compare_files as compare_files
    from sandscore.api.comparison_calls import patients_for as patients_for
    from sandscore.api.comparison_results import Comparison as Comparison
    from sandscore.api.conversion_calls import Converted as Converted
    from sandscore.api.conversion_calls import LossyConversion as LossyConversion
    from sandscore.api.conversion_calls import convert as convert
    from sandscore.api.evaluation_calls import evaluate_to_files as evaluate_to_files
    from sandscore.api.evaluation_calls import notes_copies as notes_copies
    from sandscore.api.host_calls import attack as attack
    from sandscore.api.host_calls import built_image as built_image
    from sandscore.api.host_calls import examine_host as examine_host
    from sandscore.api.host_calls import named_engine as named_engine
    from sandscore.api.index_calls import MadeIndex as MadeIndex
    from sandscore.api.index_calls import make_index as make_index
    from sandscore.api.mending_calls import Mended as Mended
    from sandscore.api.mending_calls import mend_file as mend_file
    from sandscore.api.perturbation_calls import Perturbed as Perturbed
    from sandscore.api.perturbation_calls import perturb as perturb
    from sandscore.api.publication_calls import publish as publish
    from sandscore.api.ranking_calls import RankingPlan as RankingPlan
    from sandscore.api.ranking_calls import board_text as board_text
    from sandscore.api.ranking_calls import rank as rank
    from sandscore.api.ranking_calls import rank_to_file as rank_to_file
    from sandscore.api.results import MeasureResult as MeasureResult
    from sandscore.api.results import Problems as Problems
    from sandscore.api.results import RankedBoard as RankedBoard
    from sandscore.api.results import Result as Result
    from sandscore.api.running_calls import Run as Run
    from sandscore.api.running_calls import RunFiles as RunFiles
    from sandscore.api.running_calls import RunPlan as RunPlan
    from sandscore.api.running_calls import gather as gather
    from sandscore.api.running_calls import run as run
    from sandscore.api.running_calls import run_to_folder as run_to_folder
    from sandscore.api.scoring_calls import ScoreFiles as ScoreFiles
    from sandscore.api.scoring_calls import ScoringPlan as ScoringPlan
    from sandscore.api.scoring_calls import score as score
    from sandscore.api.scoring_calls import score_to_files as score_to_files
    from sandscore.api.scoring_calls import shown_intervals as shown_intervals
    from sandscore.api.validation_calls import validate as validate
    from sandscore.api.validation_calls import validate_file as validate_file
    from sandscore.api.verification_calls import Checked as Checked
    from sandscore.api.verification_calls import Evidence as Evidence
    from sandscore.api.verification_calls import Upheld as Upheld
    from sandscore.api.verification_calls import check as check
    from sandscore.api.verification_calls import make_key as make_key
    from sandscore.api.verification_calls import verify as verify
    from sandscore.api.verification_calls import witness as witness
    from sandscore.attestation.evidence_files import is_crate as is_crate
    from sandscore.base.errors import SandscoreError as SandscoreError
    from sandscore.challenges.challenge_reading import read_challenge as read_challenge
    from sandscore.challenges.challenge_reading import read_own_tasks as read_own_tasks
    from sandscore.challenges.challenge_reading import read_task_file as read_task_file
    from sandscore.containers.host_checks import Finding as Finding
    from sandscore.containers.hostile.firing_range import AttackVerdict as AttackVerdict
    from sandscore.containers.participant_template import write_starting_point as write_starting_point
    from sandscore.formats import FORMATS as FORMATS
    from sandscore.formats.corpus import Loss as Loss
    from sandscore.formats.foreign_input import ForeignReading as ForeignReading
    from sandscore.scoring.scoring_flow import InvalidPredictions as InvalidPredictions
    from sandscore.separation.power_planning import PowerPlan as PowerPlan
    from sandscore.site.site_folder import Written as Written
    from sandscore.task_table.task import Task as Task
    from sandscore.verification.board_verification import Verified as Verified

MODULES = {
    "sandscore.annotations.input_files": ("ReadingWatch",),
    "sandscore.api.archive_calls": ("CheckedArchive", "check_archive"),
    "sandscore.api.comparison_calls": ("ComparisonInputs", "PowerAnswer", "compare", "compare_files", "patients_for"),
    "sandscore.api.comparison_results": ("Comparison",),
    "sandscore.api.conversion_calls": ("Converted", "LossyConversion", "convert"),
    "sandscore.api.index_calls": ("MadeIndex", "make_index"),
    "sandscore.api.evaluation_calls": ("evaluate_to_files", "notes_copies"),
    "sandscore.api.host_calls": ("attack", "built_image", "examine_host", "named_engine"),
    "sandscore.api.mending_calls": ("Mended", "mend_file"),
    "sandscore.api.perturbation_calls": ("Perturbed", "perturb"),
    "sandscore.api.publication_calls": ("publish",),
    "sandscore.api.ranking_calls": ("RankingPlan", "board_text", "rank", "rank_to_file"),
    "sandscore.api.results": ("MeasureResult", "Problems", "RankedBoard", "Result"),
    "sandscore.api.running_calls": ("Run", "RunFiles", "RunPlan", "gather", "run", "run_to_folder"),
    "sandscore.api.scoring_calls": ("ScoreFiles", "ScoringPlan", "score", "score_to_files", "shown_intervals"),
    "sandscore.api.validation_calls": ("validate", "validate_file"),
    "sandscore.api.verification_calls": ("Checked", "Evidence", "Upheld", "check", "make_key", "verify", "witness"),
    "sandscore.attestation.evidence_files": ("is_crate",),
    "sandscore.base.errors": ("SandscoreError",),
    "sandscore.challenges.challenge_reading": ("read_challenge", "read_own_tasks", "read_task_file"),
    "sandscore.containers.host_checks": ("Finding",),
    "sandscore.containers.hostile.firing_range": ("AttackVerdict",),
    "sandscore.containers.participant_template": ("write_starting_point",),
    "sandscore.formats": ("FORMATS",),
    "sandscore.formats.corpus": ("Loss",),
    "sandscore.formats.foreign_input": ("ForeignReading",),
    "sandscore.separation.power_planning": ("PowerPlan",),
    "sandscore.verification.board_verification": ("Verified",),
    "sandscore.scoring.scoring_flow": ("InvalidPredictions",),
    "sandscore.site.site_folder": ("Written",),
    "sandscore.task_table.task": ("Task",),
}
"""The table of public names: where each is at home."""
_MODULE_OF = {name: module for module, names in MODULES.items() for name in names}


def tasks() -> "list[Task]":
    """What can be annotated: for each task its JSON array, its label and its measures.

    >>> [task.id for task in ss.tasks()][:3]
    ['date', 'person-name', 'address']
    """
    from sandscore.task_table.task import TASKS

    return list(TASKS.values())


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    from sandscore.base.removable_rooms import REMOVABLE

    with REMOVABLE:
        value: object = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
