"""General measures count a whole data set on columns; note by note they count the same, and warn of the same notes."""

import json
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.conformance.drawn_corpora import DrawnCorpus
from sandscore.documents.note_documents import documents_of
from sandscore.documents.note_spans import add_up, spans_of
from sandscore.measures.measure_registry import MEASURES, document_measure
from sandscore.measures.measure_syntax import parse
from sandscore.span_measures.overlap_matching import (
    heaviest_matching,
    heaviest_of_few,
    matched_at_most,
    maximum_matching,
)
from sandscore.task_table.task import TASKS

PHI = TASKS["phi"]
WAYS = ("max", "sum")
MEASURED = [
    *("iou", "iou(threshold=0)", "iou(threshold=1)", "iou(unit=token)", "iou(threshold=0.3,unit=token)"),
    *(f"semeval(schema={schema})" for schema in ("strict", "exact", "partial", "ent_type")),
    *(f"overlap(recall={r},precision={p})" for r, p in product(WAYS, WAYS)),
]
SEEDS = range(12)


def crowded(corpus: DrawnCorpus, seed: int) -> None:
    """More annotations, on both sides of one another, and some notes with nothing on a side."""
    draw = Random(seed)
    for note in corpus.notes:
        for side in (corpus.gold, corpus.predictions):
            rows = side[note["identifier"]]
            for row in [*rows] * draw.choice((0, 1, 4)):
                start = min(row["start"] + draw.randint(0, 2), len(note["text"]) - 1)
                size = max(1, min(row["length"] + draw.randint(-1, 1), len(note["text"]) - start))
                moved = {"start": start, "length": size, "text": note["text"][start : start + size]}
                rows.append(row | moved | {"type": draw.choice(("NAME", "DATE", "NONE"))})
            if draw.random() < 0.2:
                rows.clear()


@pytest.mark.parametrize("written", MEASURED)
def test_all_at_once_as_one_by_one(written: str, tmp_path: Path) -> None:
    found = parse(written, MEASURES.find)
    row = document_measure(found.name)
    assert row is not None
    settings = row.settle(found)
    warned = 0
    for seed in SEEDS:
        corpus = DrawnCorpus(PHI, seed)
        if seed % 3:
            crowded(corpus, seed)
        for files in (corpus.files(tmp_path), without_notes(corpus.files(tmp_path))):
            loaded = load_files(PHI, files)
            assert not loaded.faulty("gold", "predictions")
            documents = documents_of(loaded)
            expected = [row.count(document, settings) for document in documents]
            at_once = row.count_spans(spans_of(loaded), settings)
            if at_once is None:
                assert (files.notes, settings["unit"]) == (None, "token")
                continue
            whole = row.formula is not None
            assert (at_once.notes if whole else add_up(at_once.notes)) == (expected if whole else add_up(expected))
            assert at_once.warnings == row.warn(documents, settings)
            warned += bool(at_once.warnings)
    assert warned


def without_notes(files: Inputs) -> Inputs:
    return Inputs(files.gold, files.predictions)


def test_files_that_go_back_and_forth_between_notes(tmp_path: Path) -> None:
    """Two entries for a note, with another between; gold has (0, 2) twice, of which the second is found too."""
    rows = [{"start": start, "length": 2, "text": "ab", "type": "X"} for start in (0, 3, 0)]
    entries = [entry(name, [row]) for name, row in zip("aba", rows, strict=True)]
    (tmp_path / "gold.json").write_text(json.dumps(entries))
    (tmp_path / "predictions.json").write_text(json.dumps([entry("b", [rows[1]]), entry("a", [rows[0], rows[0]])]))
    (tmp_path / "notes.json").write_text(json.dumps([{"identifier": name, "text": "ab ab"} for name in "cab"]))
    spans = spans_of(load_files(PHI, Inputs(*(tmp_path / f"{role}.json" for role in ("gold", "predictions", "notes")))))
    row = document_measure("iou")
    assert row is not None
    found = row.count_spans(spans, row.settle(parse("iou(unit=token)", MEASURES.find)))
    assert found is not None
    # notes c, a and b: nothing, two pairs, one pair
    assert [tuple(note.values()) for note in found.notes] == [(0, 0, 0), (2, 0, 0), (1, 0, 0)]
    assert found.warnings[0].startswith("iou: in note a an annotation overlaps several")


def entry(note: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"annotationSource": {"resourceSource": {"name": f"d/Note/{note}"}}, PHI.array: rows}


def test_matchings_of_few_and_of_many() -> None:
    """Trying all choices, and the linear program, agree on what the best matching is worth."""
    draw = Random(20261119)
    for _ in range(300):
        pairs = sorted({(draw.randrange(4), draw.randrange(4)) for _ in range(draw.randint(1, 8))})
        weights = {pair: draw.choice(((1, 1, 0), (0, 1, 1), (0, 1, 0))) for pair in pairs}
        few, many = heaviest_of_few(pairs, weights), heaviest_matching(weights)
        assert sorted(weights[pair] for pair in few) == sorted(weights[pair] for pair in many)
        assert len({i for i, _ in few}) == len({j for _, j in few}) == len(few)


def test_most_pairs_of_several_notes() -> None:
    """A pair alone, a star of three, and a chain of five pairs of which three fit; of a note of 40 in a chain 20."""
    import numpy as np

    chain = [(at // 2 + at % 2, at // 2) for at in range(5)]
    long = [(at // 2 + at % 2, at // 2) for at in range(40)]
    listed = [[(0, 0)], [(0, 0), (0, 1), (0, 2)], [], chain, long]
    assert [maximum_matching(pairs) for pairs in listed] == [1, 1, 0, 3, 20]
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(long))
    rows = [(i + 100 * note, j + 100 * note, note) for note, pairs in enumerate(listed) for i, j in pairs]
    gold, predicted, note = np.array(rows).T
    assert matched_at_most(gold, predicted, note, 5).tolist() == [1, 1, 0, 3, 20]
