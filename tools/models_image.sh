#!/usr/bin/env bash
# The base image of the templates with models: the examples' own with Debian's Node, and with the Python packages that are
# installed beside the tests, since a build under test has no index of packages. Once about two minutes.
set -euo pipefail

name=sandscore-base:templates
here=$(cd "$(dirname "$0")/.." && pwd)
engine() { "$here/.venv/bin/python" "$here/tools/base_image.py" "$@"; }

mkdir -p "$here/.cache"
exec 9>"$here/.cache/models.lock"
flock 9
if engine has "$name"; then
    echo "models: $name is there"
    exit 0
fi
folders=()
for python in $("$here/.venv/bin/python" "$here/tools/peer_env.py" presidio onnx); do
    folders+=("$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')")
done
echo "models: building $name with Node, spaCy, Presidio and ONNX, for the tests of templates"
engine models "$name" sandscore-base:bookworm "${folders[@]}"
