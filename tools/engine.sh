#!/usr/bin/env bash
# Makes sure a Docker engine answers; quick and silent about it when one already does.
# On Debian as root it installs what is missing and starts an engine with its own data folder.
set -euo pipefail

socket=${SANDSCORE_SOCKET:-/var/run/docker.sock}
data=${SANDSCORE_ENGINE_DATA:-/var/lib/sandscore-engine}
engine_packages=(docker.io iptables)
test_packages=(busybox-static debootstrap docker-registry)

answers() {
    python3 - "$socket" <<'PY' 2>/dev/null
import socket
import sys

with socket.socket(socket.AF_UNIX) as line:
    line.settimeout(5)
    line.connect(sys.argv[1])
    line.sendall(b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n")
    sys.exit(b" 200 " not in line.recv(64))
PY
}

missing_packages() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

install_packages() {
    echo "engine: installing $* (engine: docker.io iptables; test images: busybox-static debootstrap; digests: docker-registry)"
    apt-get update -qq
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

start_engine() {
    mkdir -p "$data"
    echo "engine: starting dockerd, data in $data/data, log in $data/log"
    setsid nohup dockerd --host "unix://$socket" --data-root "$data/data" >"$data/log" 2>&1 </dev/null &
    echo $! >"$data/pid"
    for _ in $(seq 1 300); do
        if answers; then return; fi
        sleep 0.1
    done
    echo "engine: dockerd did not answer within 30 s; its last words:" >&2
    tail -n 5 "$data/log" >&2
    exit 75
}

needed=("${test_packages[@]}")
answers || needed+=("${engine_packages[@]}")
if may_install; then
    mapfile -t missing < <(missing_packages "${needed[@]}")
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
fi
if answers; then
    echo "engine: one answers at $socket"
elif [ "$(id -u)" = 0 ] && command -v dockerd >/dev/null; then
    start_engine
else
    echo "engine: none answers at $socket; start one, or on Debian: sudo apt-get install docker.io iptables" >&2
    exit 75
fi
