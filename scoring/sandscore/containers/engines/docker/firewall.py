"""The one rule of the host's packet filter we ever make: what comes from a submission's bridge unasked is dropped."""

import shutil
import subprocess


def cut_off(bridge: str) -> bool:
    """Have the host drop new connections from a bridge; False where we may not say so."""
    return _rule("-I", bridge)


def take_back(bridge: str) -> bool:
    """Remove the bridge's rule; False where there is none."""
    return _rule("-D", bridge)


def _rule(action: str, bridge: str) -> bool:
    if shutil.which("iptables") is None:
        return False
    rule = ["INPUT", "-i", bridge, "-m", "conntrack", "--ctstate", "NEW", "-j", "DROP"]
    done = subprocess.run(["iptables", "-w", action, *rule], capture_output=True, check=False)
    return done.returncode == 0
