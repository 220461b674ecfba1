"""How fast notes are annotated and scored, beside the official way: a fresh client container for each note.

The official way is really run: the service on a network of its own, and for each note a client container that reads
it from a file, posts it and prints the answer. Its workflow also waits 70 s for the service to start and 70 s more
before the first note; those are counted, not slept through. Ours is the verb ``evaluate``, start of Python to score
card. Service, notes (3.7 kB each) and engine are the same. Needs root, an engine and tools/base_image.sh.

Exits 1 where 50 notes from start to score are less than 50 times as fast, or notes a second less than 100 times.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandscore.base.bundled_content import example_gold
from sandscore.containers.annotation_run import RunJob, run
from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.containers.participant_template import example
from sandscore.containers.run_context import Annotator, preset
from sandscore.containers.sent_notes import SentNote, read_notes
from sandscore.records.run_record import Outcome
from sandscore.task_table.task import find_task

BASE = "sandscore-base:bookworm"
NAME = "sandscore-benchmark"
NOTES, CHARACTERS = 50, 3700
COUNTED_WAITS = 70.0 + 70.0
LEAST_TOTAL, LEAST_RATE = 50, 100
CLIENT = """
import json, sys, urllib.request
note = json.load(open("/note.json"))
body = json.dumps({"note": note}).encode()
request = urllib.request.Request(sys.argv[1], body, {"Content-Type": "application/json"})
print(urllib.request.urlopen(request).read().decode())
"""


def main() -> int:
    task = find_task("date")
    with docker_client() as client, tempfile.TemporaryDirectory() as folder:
        build_image(client, NAME, example("date-good", task), {"BASE": BASE})
        try:
            notes = long_notes()
            official = official_way(client, notes, Path(folder))
            ours = our_way(notes, Path(folder))
            rates = {concurrency: our_rate(notes * 8, concurrency) for concurrency in (1, 4, 8)}
        finally:
            client.images.remove(NAME, force=True)
    return report(official, ours, rates)


def long_notes() -> list[SentNote]:
    """The example's notes, joined up to the size of a usual note."""
    texts = [note.text for note in read_notes(example_gold() / "notes.json")[0]]
    joined = ("\n".join(texts[i:] + texts[:i])[:CHARACTERS] for i in range(NOTES))
    return [SentNote(f"note-{i}", f"note-{i}", text) for i, text in enumerate(joined)]


def official_way(client: Any, notes: Sequence[SentNote], folder: Path) -> tuple[float, float]:
    """Seconds from start to the last answer without any wait, and notes a second while annotating."""
    begun = time.monotonic()
    with service(client) as network:
        annotating = time.monotonic()
        for note in notes:
            answer = json.loads(asked(client, network, note, folder))
            assert "textDateAnnotations" in answer
        rate = len(notes) / (time.monotonic() - annotating)
    return time.monotonic() - begun, rate


@contextmanager
def service(client: Any) -> Iterator[str]:
    """The annotator on a network of its own, ready."""
    network = client.networks.create(NAME)
    container = client.containers.run(NAME, name=NAME, network=NAME, detach=True)
    try:
        probe = "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/api/v1/healthCheck')"
        while container.exec_run(["python3", "-c", probe]).exit_code != 0:
            time.sleep(0.05)
        yield network.name
    finally:
        container.remove(force=True)
        network.remove()


def asked(client: Any, network: str, note: SentNote, folder: Path) -> bytes:
    """One client container: the answer it printed."""
    file = folder / "note.json"
    file.write_text(json.dumps(note.payload()), encoding="utf-8")
    url = f"http://{NAME}:8080/api/v1/textDateAnnotations"
    container = client.containers.create(
        BASE,
        ["python3", "-c", CLIENT, url],
        network=network,
        volumes={str(file): {"bind": "/note.json", "mode": "ro"}},
    )
    try:
        container.start()
        assert container.wait()["StatusCode"] == 0, container.logs()
        logs: bytes = container.logs(stderr=False)
        return logs
    finally:
        container.remove(force=True)


def our_way(notes: Sequence[SentNote], folder: Path) -> float:
    """Seconds of the whole command, from the start of Python to the score card."""
    (folder / "notes.json").write_text(json.dumps([note.record() for note in notes]), encoding="utf-8")
    gold = [{"annotationSource": {"resourceSource": {"name": note.name}}, "textDateAnnotations": []} for note in notes]
    (folder / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    words = ["evaluate", "date", "--image", NAME, "--notes", "notes.json", "--gold", "gold.json", "-o", "result"]
    command = [sys.executable, "-c", f"from sandscore.cli.main import main; main({words!r})"]
    begun = time.monotonic()
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begun
    assert (folder / "result" / "card.json").exists()
    return seconds


def our_rate(notes: Sequence[SentNote], concurrency: int) -> float:
    """Notes a second while annotating; two CPUs for the container, as it has in the official way."""
    limits = preset("strict").model_copy(update={"cpus": 2.0})
    repeated = [SentNote(f"note-{i}", f"note-{i}", note.text) for i, note in enumerate(notes)]
    job = RunJob(find_task("date"), Annotator("image", NAME), repeated, "0" * 64, limits, concurrency)
    record = run(job).record
    assert record.outcome is Outcome.FINISHED, record.reason
    return record.notes_per_second or 0.0


def report(official: tuple[float, float], ours: float, rates: dict[int, float]) -> int:
    """Print the ratios; 1 where one is too small."""
    seconds, rate = official
    total = (seconds + COUNTED_WAITS) / ours
    print(
        f"{NOTES} notes, start to score: official {seconds:.1f} s + {COUNTED_WAITS:.0f} s of waits, ours {ours:.2f} s"
    )
    print(f"  ratio {total:.0f} (at least {LEAST_TOTAL}); without its waits {seconds / ours:.1f}")
    print(f"notes a second: official {rate:.2f}")
    for concurrency, found in rates.items():
        print(f"  concurrency {concurrency}: {found:.0f}, ratio {found / rate:.0f} (at least {LEAST_RATE})")
    return int(total < LEAST_TOTAL or min(rates.values()) / rate < LEAST_RATE)


if __name__ == "__main__":
    sys.exit(main())
