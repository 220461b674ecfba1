#!/usr/bin/env bash
# Makes sure there is a chromium for the browser tests; quick and silent about it when there is one.
set -euo pipefail

! command -v chromium >/dev/null || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "browser: the browser tests need chromium; on Debian: sudo apt-get install chromium" >&2
    exit 75
fi
echo "browser: installing chromium (for the browser tests)"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
