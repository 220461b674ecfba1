#!/usr/bin/env bash
# Makes sure there is Slurm for the test of docs/hpc.md: Debian's; none of its daemons is started by this.
set -euo pipefail

cd "$(dirname "$0")/.."
! { command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null; } || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "slurm: the test of docs/hpc.md needs Slurm; on Debian: sudo apt-get install slurm-wlm munge" >&2
    exit 75
fi
echo "slurm: installing slurm-wlm and munge (for the test of docs/hpc.md)"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null
