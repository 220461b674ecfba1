"""Our profiles ``tab`` and ``tab-2022`` beside the Text Anonymization Benchmark's own program, from files to numbers.

    git clone https://github.com/NorskRegnesentral/text-anonymization-benchmark CLONE
    python benchmarks/peers_tab.py CLONE [--documents 100] [--rounds 3]

The first time it makes the original's environment. The original is in no package index, hence the clone; nothing of
it is kept here. Documents are as long as the benchmark's, with two annotators. Its newer release tags every text while
it reads gold, ours reads the tagger's tokens from a file: that is what either does. Exits 1 where a release is less
than fifty times slower than ours.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from beside import Beside, Round, measured, must_agree, original, report, timed

from sandscore.base.byte_sources import opened
from sandscore.original_scores.profile_cards import decoded
from sandscore.profiles.profile import CompanionFile, OriginalScorer, ProfileInput
from sandscore.profiles.profile_registry import PROFILES
from sandscore.task_table.task import find_task

RELEASES = {"tab": ("c5246a2", 50.0), "tab-2022": ("6c2f8da", 50.0)}
KINDS = ("PERSON", "DATETIME", "LOC", "ORG", "CODE", "QUANTITY", "DEM", "MISC")
COMMON = ("the", "of", "in", "and", "to", "Mr", "no", "was", "Ms", "about")
WORDS, MENTIONS = 850, 45
Json = dict[str, Any]


def clone_at(place: str) -> Path:
    """What a command line names, where it is a clone with both releases."""
    for commit, _ in RELEASES.values():
        asked = ["git", "-C", place, "cat-file", "-e", f"{commit}:evaluation.py"]
        if subprocess.run(asked, check=False, capture_output=True).returncode:
            raise argparse.ArgumentTypeError(f"{place} is no clone of the benchmark with its release {commit}")
    return Path(place)


def corpus(documents: int) -> tuple[list[Json], Json]:
    """Gold and masks: most mentions are masked, some of them all but a letter."""
    stream = random.Random(20261119)
    letters = "abcdefghijklmnopqrstuvwxyz"
    lexicon = ["".join(stream.choices(letters, k=stream.randint(2, 10))) for _ in range(500)] + 40 * list(COMMON)
    gold, masks = [], {}
    for number in range(documents):
        words = stream.choices(lexicon, k=WORDS)
        places: list[tuple[int, int]] = []
        for word in words:
            start = places[-1][1] + 1 if places else 0
            places.append((start, start + len(word)))
        first = sorted(stream.sample(range(WORDS - 4), MENTIONS))
        spans = [(places[at][0], places[at + stream.randint(0, 3)][1]) for at in first]
        people = {f"annotator{who}": mentions(stream, f"{number}_{who}", spans) for who in (1, 2)}
        text = " ".join(words)
        gold.append({"doc_id": f"d{number}", "text": text, "dataset_type": "test", "annotations": people})
        masks[f"d{number}"] = [[s, e - (stream.random() < 0.1)] for s, e in spans if stream.random() < 0.85]
    return gold, masks


def mentions(stream: random.Random, name: str, spans: list[tuple[int, int]]) -> Json:
    found = [
        {
            "entity_type": stream.choice(KINDS),
            "entity_mention_id": f"{name}_em{number}",
            "start_offset": start,
            "end_offset": end,
            "edit_type": "correct",
            "identifier_type": stream.choice(["DIRECT", "QUASI", "QUASI", "QUASI", "NO_MASK"]),
            "entity_id": f"{name}_e{stream.randint(0, 30)}",
        }
        for number, (start, end) in enumerate(spans)
        if stream.random() < 0.9
    ]
    return {"entity_mentions": found}


def compare(clone: Path, documents: int, rounds: int) -> list[Beside]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, content in zip(("gold", "masks"), corpus(documents), strict=True):
            (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        return [compare_one(name, clone, folder, documents, rounds) for name in RELEASES]


def compare_one(name: str, clone: Path, folder: Path, documents: int, rounds: int) -> Beside:
    commit, required = RELEASES[name]
    program = folder / f"{commit}.py"
    program.write_bytes(
        subprocess.run(["git", "-C", clone, "show", f"{commit}:evaluation.py"], check=True, capture_output=True).stdout
    )
    said = f"{documents:,} documents of {WORDS} words, files read"
    return measured(f"{name} ({commit})", said, required, [one_round(name, program, folder) for _ in range(rounds)])


def one_round(name: str, program: Path, folder: Path) -> Round:
    files = {part: folder / f"{part}.json" for part in ("gold", "masks", "tokens")}
    request = {"program": str(program), "tagged": name == "tab"} | {
        part: str(files[part]) for part in ("gold", "masks")
    }
    answer = original("tab", "benchmarks/tab_original.py", request)
    files["tokens"].write_text(json.dumps(answer.get("tokens", {})), encoding="utf-8")
    row, phi = PROFILES.find(name), find_task("phi")
    settings = {parameter.name: parameter.default for parameter in row.parameters}

    def ours() -> Any:
        if name == "tab-2022":
            return as_written(row, files, settings)
        read = {part: decoded(file.read_bytes()) for part, file in files.items()}
        tokens = {"tokens": CompanionFile("tokens.json", read["tokens"], "0" * 64)}
        return row.evaluate(ProfileInput(phi, None, read["gold"], read["masks"], tokens), settings)

    ours()
    found, seconds = timed(ours)
    numbers = found.details["evaluate"] if name == "tab" else found.details["raw"]
    must_agree("the numbers", answer["found"], {one: numbers[one] for one in answer["found"]})
    return Round(answer["seconds"], seconds)


def as_written(row: type[OriginalScorer], files: dict[str, Path], settings: dict[str, Any]) -> Any:
    """The files as ``sandscore score`` has them read."""
    with (
        opened(files["gold"]) as gold,
        opened(files["masks"]) as masks,
        memoryview(gold.data) as first,
        memoryview(masks.data) as second,
    ):
        return row.evaluate_written(first, second, settings)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Our profiles of the Text Anonymization Benchmark beside the original."
    )
    parser.add_argument("clone", type=clone_at, help="where its repository lies")
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    return report(compare(options.clone, options.documents, options.rounds))


if __name__ == "__main__":
    sys.exit(main())
