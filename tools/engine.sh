#!/usr/bin/env bash
# Makes sure a Docker engine answers; quick and silent about it when one already does.
# On Debian as root it installs what is missing and starts an engine with its own data folder.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
socket=${SANDSCORE_SOCKET:-/var/run/docker.sock}
data=${SANDSCORE_ENGINE_DATA:-/var/lib/sandscore-engine}
engine_packages=(docker.io iptables)
test_packages=(busybox-static debootstrap docker-registry bubblewrap libseccomp2)

# Says where an engine answers, by DOCKER_HOST, the docker command's context or a usual socket; or why none does.
reached() { "$here/.venv/bin/python" "$here/tools/base_image.py" reach; }
answers() { reached >/dev/null 2>&1; }

missing_packages() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

install_packages() {
    echo "engine: installing $* (engine: docker.io iptables; test images: busybox-static debootstrap; digests: docker-registry; engine without a daemon: bubblewrap)"
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
    echo "engine: one answers at $(reached)"
elif [ "$(id -u)" = 0 ] && command -v dockerd >/dev/null; then
    start_engine
else
    reached
fi
