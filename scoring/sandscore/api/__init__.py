"""The library: what every verb does, as typed functions; importing this package imports nothing else yet."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandscore.api.results import Problems as Problems
    from sandscore.api.results import Result as Result
    from sandscore.api.running_calls import RunFiles as RunFiles
    from sandscore.api.running_calls import RunRequest as RunRequest
    from sandscore.api.running_calls import limits_of as limits_of
    from sandscore.api.running_calls import run_to_folder as run_to_folder
    from sandscore.api.scoring_calls import ScoreFiles as ScoreFiles
    from sandscore.api.scoring_calls import ScoreRequest as ScoreRequest
    from sandscore.api.scoring_calls import score_to_files as score_to_files
    from sandscore.scoring.scoring_flow import InvalidPredictions as InvalidPredictions
    from sandscore.scoring.scoring_flow import Watch as Watch

_HOMES = {
    "sandscore.api.results": ("Problems", "Result"),
    "sandscore.api.running_calls": ("RunFiles", "RunRequest", "limits_of", "run_to_folder"),
    "sandscore.api.scoring_calls": ("ScoreFiles", "ScoreRequest", "score_to_files"),
    "sandscore.scoring.scoring_flow": ("InvalidPredictions", "Watch"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
