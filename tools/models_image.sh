#!/usr/bin/env bash
# The base image of the templates with models: the examples' own with Debian's Node, and with the spaCy and Presidio that
# are installed beside the tests, since a build under test has no index of packages. Once about two minutes.
set -euo pipefail

name=sandscore-base:models
here=$(cd "$(dirname "$0")/.." && pwd)
engine() { "$here/.venv/bin/python" "$here/tools/base_image.py" "$@"; }

mkdir -p "$here/.cache"
exec 9>"$here/.cache/models.lock"
flock 9
if engine has "$name"; then
    echo "models: $name is there"
    exit 0
fi
python=$("$here/.venv/bin/python" "$here/tools/peer_env.py" presidio)
echo "models: building $name with Node, spaCy and Presidio, for the tests of templates"
engine models "$name" sandscore-base:bookworm "$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
