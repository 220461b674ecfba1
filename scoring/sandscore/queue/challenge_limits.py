"""The challenge's limits as the harness takes them."""

from sandscore.containers.run_context import preset
from sandscore.records import challenge, run_record

_UNITS = {"k": 10, "m": 20, "g": 30}


def limits_of(configured: challenge.Limits) -> run_record.RunLimits:
    """What challenge.toml leaves out stays as the harness has it."""
    changed = {
        "memory_bytes": None if configured.memory is None else _bytes(configured.memory),
        "cpus": configured.cpus,
        "processes": configured.processes,
        "total_seconds": configured.time_limit,
        "pull_seconds": configured.pull_time,
        "output_bytes": None if configured.output is None else _bytes(configured.output),
    }
    base = preset(configured.hardening or "strict")
    return base.model_copy(update={name: value for name, value in changed.items() if value is not None})


def _bytes(written: str) -> int:
    return int(written[:-1]) << _UNITS[written[-1]]
