#!/usr/bin/env bash
# Writes tests/house/wheel_contents.txt: what a wheel built now would hold, wherever it is built.
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
    names = [name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith(".so")]
print(*sorted(names), sep="\n")
PY
