#!/usr/bin/env bash
# Makes .venv with everything the project and its tests need; does nothing where it is already up to date.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=$(cat pyproject.toml constraints.txt tools/environment.sh | sha256sum | cut -c1-16)
[ "$(cat .venv/.made-for 2>/dev/null || true)" != "$wanted" ] || exit 0

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

find_python() {
    for name in python3.11 python3.12 python3.13 python3; do
        if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            echo "$name"
            return
        fi
    done
    echo "environment: Python 3.11 or newer is needed; on Debian: apt-get install python3" >&2
    exit 75
}

python=$(find_python)
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if ! may_install; then
        echo "environment: $python has no venv module; on Debian: sudo apt-get install python3-venv" >&2
        exit 75
    fi
    echo "environment: installing python3-venv (to make an environment that touches nothing else)"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
fi
echo "environment: installing sandscore, its libraries and the test tools into .venv (versions: constraints.txt)"
[ -x .venv/bin/python ] || "$python" -m venv .venv
quiet=(--quiet --disable-pip-version-check --no-input)
.venv/bin/python -m pip install "${quiet[@]}" --upgrade 'pip>=25.1' 2> >(grep -v 'WARNING: Location' >&2 || true)
.venv/bin/python -m pip install "${quiet[@]}" --constraint constraints.txt --editable '.[all]' --group dev \
    2> >(grep -v 'WARNING: Location' >&2 || true)
echo "$wanted" >.venv/.made-for
