#!/usr/bin/env bash
# Writes tests/house/wheel_contents.txt: what a wheel built now would hold.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
.venv/bin/python -m build --no-isolation --outdir "$out" . >/dev/null
.venv/bin/python - "$out" >tests/house/wheel_contents.txt <<'PY'
import sys
import zipfile
from pathlib import Path

with zipfile.ZipFile(next(Path(sys.argv[1]).glob("*.whl"))) as archive:
    print(*sorted(name for name in archive.namelist() if ".dist-info/" not in name), sep="\n")
PY
