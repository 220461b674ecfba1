"""Everything this folder measures about speed, one after the other in one process tree, and what came of it.

    python benchmarks/everything.py [--json speed.json] [--draw]

Our own costs beside decoding for three sizes and two corpora, awkward inputs, start-up, ranking, and every original
scorer in an environment of its own. ``--draw`` redraws docs/speed.svg and the tables of docs/speed.md. It takes about
half an hour on a quiet machine, and says nothing on a busy one. Exits 1 where a limit was missed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPS = {
    "reading": ("reading_and_scoring.py", "--notes", "1000", "--notes", "10000", "--notes", "100000"),
    "corners": ("corners.py",),
    "starting": ("starting.py",),
    "ranking": ("ranking_speed.py",),
    "peers": ("all_peers.py",),
}
TOLD = ("reading", "peers")
"""Steps that write down what they measured."""


def step(name: str, folder: Path) -> bool:
    """Run one benchmark; whether it kept to its limits."""
    words = [str(HERE / STEPS[name][0]), *STEPS[name][1:]]
    words += ["--json", str(folder / f"{name}.json")] if name in TOLD else []
    print(f"\n# {name}\n", flush=True)
    return subprocess.run([sys.executable, *words], check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        kept = {name: step(name, Path(made)) for name in STEPS}
        told = {name: json.loads(Path(made, f"{name}.json").read_bytes()) for name in TOLD}
    written = json.dumps(told["reading"] | {"peers": told["peers"]["rows"], "kept": kept}, indent=1) + "\n"
    if options.json:
        options.json.write_text(written, encoding="utf-8")
    if options.draw:
        subprocess.run(
            [sys.executable, str(HERE.parent / "tools/draw_speed.py"), "-"], input=written, text=True, check=True
        )
    missed = [name for name, within in kept.items() if not within]
    print(f"\nbeyond a limit: {', '.join(missed)}" if missed else "\nevery limit was kept")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
