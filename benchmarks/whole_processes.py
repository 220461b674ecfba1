"""What whole processes do for ``starting.py``, the cyclic collector off; each imports what it needs and no more."""

import gc
from io import FileIO

gc.disable()


def decode(folder: str) -> list[object]:
    """Gold and predictions as the fastest decoder's objects."""
    import orjson

    decoded: list[object] = []
    for role in ("gold", "predictions"):
        with FileIO(f"{folder}/{role}.json") as file:
            decoded.append(orjson.loads(file.read()))
    return decoded


def score(folder: str, resamples: int = 0) -> object:
    """Validate, compare with the notes, count every measure; and resample the notes for intervals of five."""
    from sandscore.annotations.input_files import Inputs, load_files
    from sandscore.measures.dataset_counts import measured
    from sandscore.measures.hipaa_map import load_hipaa_map
    from sandscore.measures.measure_registry import measures_for
    from sandscore.task_table.task import TASKS

    task, hipaa = TASKS["address"], load_hipaa_map()
    files = Inputs(*(f"{folder}/{role}.json" for role in ("gold", "predictions", "notes")))
    loaded = load_files(task, files, want_hashes=False)
    whole = measured(task, loaded, measures_for(task), hipaa)
    if not resamples:
        return whole
    import numpy as np

    from sandscore.ranking.confidence_intervals import percentile_intervals
    from sandscore.ranking.resampling import f1_replicates
    from sandscore.ranking.score_table import ScoreTable

    five = whole.counted[:5]
    counts = np.stack([one.per_note for one in five], axis=1)[None]
    scored = np.ones((1, 1, len(five)), np.bool_)
    names = tuple(str(one.measure) for one in five)
    table = ScoreTable(("s",), ("",), names, counts, (slice(0, counts.shape[1]),), scored, {})
    return percentile_intervals(f1_replicates(table, [*range(len(five))], 1, resamples)[0])
