#!/usr/bin/env bash
# The base image of the example annotators: Debian with Python, made from Debian's own packages.
# The tarball is cached under .cache/, so that only the first run takes its 40 seconds.
set -euo pipefail

name=sandscore-base:bookworm
here=$(cd "$(dirname "$0")/.." && pwd)
tarball=${SANDSCORE_CACHE:-$here/.cache}/base-bookworm-$(uname -m).tar

engine() { "$here/.venv/bin/python" "$here/tools/base_image.py" "$@"; }

if engine has "$name"; then
    echo "base image: $name is there"
    exit 0
fi

mkdir -p "$(dirname "$tarball")"
exec 9>"$tarball.lock"
flock 9
if [ ! -s "$tarball" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
        echo "base image: needs root and debootstrap (apt-get install debootstrap);" \
            "elsewhere build with --build-arg BASE=python:3.12-slim" >&2
        exit 75
    fi
    echo "base image: debootstrap of Debian bookworm with python3 (about 40 s, once)"
    root=$(mktemp -d "$(dirname "$tarball")/debootstrap.XXXXXX")
    trap 'rm -rf "$root" "$tarball.partial"' EXIT
    debootstrap --variant=minbase --include=python3,ca-certificates bookworm "$root" >"$tarball.log" 2>&1 || {
        tail -n 5 "$tarball.log" >&2
        exit 75
    }
    rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale,info}
    ln -sf python3 "$root/usr/bin/python"
    tar --numeric-owner -C "$root" -cf "$tarball.partial" .
    mv "$tarball.partial" "$tarball"
fi
engine import "$name" "$tarball"
echo "base image: imported $name from $tarball"
