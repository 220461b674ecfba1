#!/usr/bin/env bash
# Makes sure there is a chromium, and a reader of printed pages, for the browser tests; quick and silent about it when there is one.
set -euo pipefail

driver_starts() { .venv/bin/playwright --version >/dev/null 2>&1; }

cd "$(dirname "$0")/.."
! { command -v chromium >/dev/null && command -v pdftotext >/dev/null && driver_starts; } || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "browser: the browser tests need chromium; on Debian: sudo apt-get install chromium libatomic1 poppler-utils" >&2
    exit 75
fi
echo "browser: installing chromium, libatomic1, which its driver needs, and poppler-utils, which reads what is printed (for the browser tests)"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium libatomic1 poppler-utils >/dev/null
