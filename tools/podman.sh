#!/usr/bin/env bash
# Makes sure that Podman is there for the tests of it: Debian's, with runc (crun refuses control groups of version 1) and
# an init for its containers. As root on Debian it installs what is missing; the second time there is nothing to do.
set -euo pipefail

needed=(podman runc catatonit)

missing_packages() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    mapfile -t missing < <(missing_packages "${needed[@]}")
    if [ ${#missing[@]} -gt 0 ]; then
        echo "podman: installing ${missing[*]} (${needed[*]})"
        apt-get update -qq
        RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    fi
fi
command -v podman >/dev/null || {
    echo "podman: is not here, and only root on Debian may install it: apt-get install ${needed[*]}" >&2
    exit 75
}
echo "podman: $(podman --version)"
