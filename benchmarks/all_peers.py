"""Every original beside ours, one table.

    python benchmarks/all_peers.py [--documents N] [--rounds 3] [--json FILE]

The first time, each original's environment is made. Exits 1 where a ratio is below what is required.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import peers_neleval
import peers_nervaluate
import peers_nlpsandbox
import peers_presidio
from beside import machine, report

PEERS = (peers_nlpsandbox, peers_neleval, peers_nervaluate, peers_presidio)


def main() -> int:
    parser = argparse.ArgumentParser(description="Our profiles beside the original scorers.")
    parser.add_argument("--documents", type=int, help="the same for all; else what is asked of each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    given = {"rounds": options.rounds} | ({"documents": options.documents} if options.documents else {})
    found = [row for peer in PEERS for row in peer.compare(**given)]
    facts = machine()
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    if options.json:
        rows = [asdict(row) | {"ratio": row.ratio} for row in found]
        options.json.write_text(json.dumps({"machine": facts, "rows": rows}, indent=2) + "\n", encoding="utf-8")
    return report(found)


if __name__ == "__main__":
    sys.exit(main())
