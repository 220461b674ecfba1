#!/usr/bin/env bash
# Makes .venv with everything the project and its tests need, and compiles the kernel; does nothing that is done.
set -euo pipefail
cd "$(dirname "$0")/.."

native=scoring/sandscore/kernel
compiler=${CC:-cc}

made_for() { cat pyproject.toml constraints.txt tools/environment.sh | cksum; }

compiled_for() {
    {
        cat "$native"/*.[ch] "$native"/kernel.so hatch_build.py 2>/dev/null || true
        echo "$compiler" "${CFLAGS:-}"
        command -v "${compiler%% *}" || true
    } | cksum
}

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

install_packages() {
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

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

make_environment() {
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        if ! may_install; then
            echo "environment: $python has no venv module; on Debian: sudo apt-get install python3-venv" >&2
            exit 75
        fi
        echo "environment: installing python3-venv (to make an environment that touches nothing else)"
        install_packages python3-venv
    fi
    echo "environment: installing sandscore, its libraries and the test tools into .venv (files and their hashes: constraints.txt)"
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    quiet=(--quiet --disable-pip-version-check --no-input)
    .venv/bin/python -m pip install "${quiet[@]}" --require-hashes --no-deps --requirement constraints.txt \
        2> >(grep -v 'WARNING: Location' >&2 || true)
    .venv/bin/python -m pip install "${quiet[@]}" --no-deps --no-build-isolation --editable .
    .venv/bin/python -m pip check >.venv/check.txt || {
        cat .venv/check.txt >&2
        echo "environment: constraints.txt does not hold what pyproject.toml asks for; make lock writes it anew" >&2
        exit 70
    }
    made_for >.venv/.made-for
}

compiles() { echo '#include <string.h>' | $compiler -x c -fsyntax-only - 2>/dev/null; }

compile_kernel() {
    if ! compiles && [ -z "${CC:-}" ] && may_install; then
        echo "environment: installing gcc and libc6-dev (to compile the kernel, which reads files fast)"
        install_packages gcc libc6-dev || true
    fi
    if compiles; then
        echo "environment: compiling the kernel"
        .venv/bin/python hatch_build.py || true
    else
        rm -f "$native/kernel.so"
        echo "environment: no C compiler, so files are read more slowly, with the same results;" \
            "on Debian: sudo apt-get install gcc libc6-dev; on macOS: xcode-select --install" >&2
    fi
    compiled_for >.venv/.compiled-for
}

[ "$(made_for)" = "$(cat .venv/.made-for 2>/dev/null)" ] || make_environment
if compgen -G "$native/*.c" >/dev/null && [ "$(compiled_for)" != "$(cat .venv/.compiled-for 2>/dev/null)" ]; then
    compile_kernel
fi
