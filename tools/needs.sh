#!/usr/bin/env bash
# Says what the whole test suite needs and this machine lacks, before anything of it runs. As root on Debian the steps
# that follow install it; for anybody else this ends with 75.
set -euo pipefail
cd "$(dirname "$0")/.."

lacking=()
lacks() { lacking+=("$1"); }

.venv/bin/python tools/base_image.py reach >/dev/null 2>&1 ||
    lacks "a container engine that this account may use ($(.venv/bin/python tools/base_image.py reach 2>&1 >/dev/null | tail -n 1))"
[ "$(id -u)" = 0 ] || lacks "root, to enter the network of containers and to make a base image"
for program in debootstrap:debootstrap busybox:busybox-static docker-registry:docker-registry podman:podman bwrap:bubblewrap slurmctld:slurm-wlm chromium:chromium systemd-analyze:systemd; do
    command -v "${program%%:*}" >/dev/null || lacks "${program%%:*} (Debian: ${program##*:})"
done
[ ${#lacking[@]} -gt 0 ] || exit 0

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }
if may_install; then
    printf 'test: will be installed first: %s\n' "${lacking[@]}"
    exit 0
fi
{
    echo "test: the whole suite needs what is not here; make quick needs none of it:"
    printf 'test:   %s\n' "${lacking[@]}"
} >&2
exit 75
