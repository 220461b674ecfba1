#!/usr/bin/env bash
# Makes sure there are an nginx and a Caddy for the tests of docs/serving.md: Debian's, unpacked into .cache and not installed.
set -euo pipefail

cd "$(dirname "$0")/.."
fetched() { # PROGRAM FOLDER PACKAGE...
    local program=$1 folder=.cache/$2
    shift 2
    [ ! -e "$folder/whole" ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "proxy: the tests of docs/serving.md need $program" >&2
        exit 75
    fi
    echo "proxy: fetching $program (for the tests of docs/serving.md); it is not installed"
    rm -rf "$folder" "$folder.part"
    mkdir -p "$folder.part"
    [ "$(id -u)" != 0 ] || apt-get update -qq
    (cd "$folder.part" && apt-get download -qq "$@" 2>/dev/null && for one in *.deb; do dpkg -x "$one" .; done && rm -f ./*.deb)
    touch "$folder.part/whole"
    mv "$folder.part" "$folder"
}

fetched nginx nginx nginx nginx-common
fetched caddy caddy caddy
if ! command -v systemd-analyze >/dev/null; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "proxy: the tests of docs/serving.md need systemd-analyze (Debian: systemd)" >&2
        exit 75
    fi
    echo "proxy: installing systemd, whose systemd-analyze looks at the units of docs/serving.md"
    apt-get install -qq -y --no-install-recommends systemd >/dev/null
fi
