"""``python -m tools.make_predictions``: runs each example annotator over the example notes.

Writes ``predictions.json`` beside its ``annotate.py``. The annotator sees the text of a note and nothing else.
"""

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.make_example.writing import annotation_record, lines_of

from sandscore.base.whole_files import write_file
from sandscore.task_table.task import find_task

ROOT = Path(__file__).resolve().parents[1]
SUBMISSIONS = ROOT / "submissions"
NOTES = ROOT / "gold" / "example" / "notes.json"

Annotate = Callable[[str], list[dict[str, Any]]]


def folders() -> list[Path]:
    """The example submissions."""
    return sorted(manifest.parent for manifest in SUBMISSIONS.glob("*/submission.json"))


def predictions_of(folder: Path, notes: list[dict[str, Any]]) -> str:
    """What the folder's annotator says today, as the text of its prediction file."""
    manifest = json.loads((folder / "submission.json").read_text(encoding="utf-8"))
    task = find_task(manifest["task"])
    annotate: Annotate = runpy.run_path(str(folder / "annotate.py"))["annotate"]
    return lines_of(annotation_record(task, note["note_name"], annotate(note["text"])) for note in notes)


def main() -> None:
    notes = json.loads(NOTES.read_text(encoding="utf-8"))
    for folder in folders():
        write_file(folder / "predictions.json", predictions_of(folder, notes).encode())
        print(f"wrote {(folder / 'predictions.json').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
