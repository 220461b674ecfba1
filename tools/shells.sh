#!/usr/bin/env bash
# zsh and fish, so that completion is tried in them too; does nothing where they are.
set -euo pipefail

missing=()
for shell in zsh fish; do command -v "$shell" >/dev/null || missing+=("$shell"); done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "shells: installing ${missing[*]} (shells in which completion is tried)"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null && exit 0
fi
echo "shells: without ${missing[*]} completion is tried in bash alone; on Debian: sudo apt-get install ${missing[*]}" >&2
