#!/usr/bin/env bash
# Makes sure there is an nginx for the test of docs/serving.md: Debian's, unpacked into .cache and not installed.
set -euo pipefail

cd "$(dirname "$0")/.."
! { command -v nginx >/dev/null || [ -x .cache/nginx/usr/sbin/nginx ]; } || exit 0
if ! command -v apt-get >/dev/null; then
    echo "proxy: the test of docs/serving.md needs nginx" >&2
    exit 75
fi
echo "proxy: fetching nginx (for the test of docs/serving.md); it is not installed"
mkdir -p .cache/nginx.part
[ "$(id -u)" != 0 ] || apt-get update -qq
(cd .cache/nginx.part && apt-get download -qq nginx 2>/dev/null && dpkg -x nginx_*.deb . && rm -f nginx_*.deb)
mv .cache/nginx.part .cache/nginx
