"""Every verb from start to end beside another checkout's, on small inputs: whether one takes longer than it did.

    python benchmarks/verb_starts.py CHECKOUT [--only WORD]

Both checkouts run the same commands, each with its own code (kernels must be compiled: ``python hatch_build.py``) on
its own example, board and cards, and on a queue that it made by the same commands: one submission is scored, one
waits. Instructions are counted by valgrind from the start of Python to the end of the last child that it forks, with
bytecode written beforehand. Every verb is asked for its help too. What only one of them has is left out. Exits 1 where
a verb takes more than 1.03 of the other checkout's instructions, or ends otherwise than there.
"""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

from against import COUNTED, COUNTING, LIMIT, ROOT, checkout_at, run
from starting import MAIN

NOTES, GOLD = "gold/example/notes.json", "gold/example/date.json"
GOOD, WEAK = (f"submissions/date-{name}/predictions.json" for name in ("good", "weak"))
BOARD = "leaderboard/date-final/board.json"
CARDS = "leaderboard/cards/date-good.json leaderboard/cards/date-weak.json"
BEFOREHAND = (
    "queue init {place}/queue --challenge gold/example/challenge.toml",
    f"queue submit {{place}}/queue --task date --team good --predictions {GOOD}",
    "queue work {place}/queue --once",
    f"queue submit {{place}}/queue --task date --team weak --predictions {WEAK}",
    "queue init {place}/empty --challenge gold/example/challenge.toml",
)
VERBS = {
    "tasks": "tasks",
    "init": "init date {place}/mine",
    "validate": f"validate date {GOLD} --notes {NOTES}",
    "score": f"score date --gold {GOLD} --predictions {GOOD}",
    "score, to a card": f"score date --gold {GOLD} --predictions {GOOD} --notes {NOTES} -o {{place}}/card.json",
    "convert": f"convert date --from ours --notes {NOTES} --annotations {GOLD} --to conll -o {{place}}/conll",
    "rank": f"rank {CARDS}",
    "rank, to a board": f"rank {CARDS} -o {{place}}/board.json",
    "verify": f"verify {BOARD}",
    "publish": f"publish {BOARD} -o {{place}}/site",
    "power": f"power date --gap 0.3 --simulations 20 --gold {GOLD} --notes {NOTES}",
    "run, refused": f"run date --command /nowhere --notes {NOTES} -o {{place}}/run",
    "evaluate, refused": f"evaluate date --image x:1 --notes {NOTES} --gold {GOLD} -o {{place}}/run",
    "attack, refused": "attack --only nothing",
    "doctor": "doctor",
    "queue init": "queue init {place}/other --challenge gold/example/challenge.toml",
    "queue submit": f"queue submit {{place}}/queue --task date --team other --predictions {WEAK}",
    "queue list": "queue list {place}/queue",
    "queue show": "queue show {place}/queue {scored}",
    "queue work": "queue work {place}/empty --once",
    "queue cancel": "queue cancel {place}/queue {waiting}",
    "queue requeue": "queue requeue {place}/queue {scored}",
    "queue rescore": "queue rescore {place}/queue --plan",
    "queue export": "queue export {place}/queue -o {place}/export",
}
HELPED = ("", *dict.fromkeys(name.partition(",")[0] for name in VERBS), "demo", "queue")


class Side:
    """A checkout, its bytecode, and the files that its commands find at ``place`` before each of them."""

    def __init__(self, checkout: Path, kept: Path, place: Path) -> None:
        self._checkout, self._kept, self._place = checkout, kept / checkout.name, place
        self._bytecode, self._named = kept / "bytecode", {"place": str(place)}
        place.mkdir()
        made = [self._run(words, []).stdout.split() for words in BEFOREHAND]
        self._named |= {"scored": made[1][0], "waiting": made[3][0]}
        place.rename(self._kept)

    def counted(self, words: str) -> tuple[int, float]:
        """The exit code, and millions of instructions."""
        for around in ([], COUNTING):
            shutil.rmtree(self._place, ignore_errors=True)
            shutil.copytree(self._kept, self._place, symlinks=True)
            done = self._run(words, around)
        return done.returncode, sum(int(number.replace(",", "")) for number in COUNTED.findall(done.stderr)) / 1e6

    def _run(self, words: str, around: list[str]) -> "subprocess.CompletedProcess[str]":
        given = [word.format(**self._named) for word in words.split()]
        return run(self._checkout, ["-c", MAIN, *given], self._bytecode, around, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=checkout_at)
    parser.add_argument("--only", metavar="WORD", default="", help="what the name of a case must hold")
    options = parser.parse_args()
    cases = VERBS | {f"{verb} --help".strip(): f"{verb} --help" for verb in HELPED}
    beyond = False
    with tempfile.TemporaryDirectory(prefix="sandscore-starts-") as made:
        sides = [Side(checkout, Path(made), Path(made) / "place") for checkout in (options.checkout, ROOT)]
        for name, words in cases.items():
            if options.only in name:
                (ended, before), (ends, now) = (side.counted(words) for side in sides)
                wrong = f"   (limit {LIMIT})" * (now > LIMIT * before) + f"   (exit {ended}, {ends})" * (ended != ends)
                print(f"{name:<28} {before:8.1f} {now:8.1f} {now / before:6.3f}{wrong}", flush=True)
                beyond |= bool(wrong)
    return int(beyond)


if __name__ == "__main__":
    raise SystemExit(main())
