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
        "ready_seconds": configured.ready_time,
        "note_seconds": configured.note_time,
        "gpus": configured.gpus,
        "image_bytes": None if configured.image_size is None else _bytes(configured.image_size),
        "output_bytes": None if configured.output is None else _bytes(configured.output),
    }
    base = preset(configured.hardening or "strict")
    return base.model_copy(update={name: value for name, value in changed.items() if value is not None})


def protocol_of(configured: challenge.Limits) -> run_record.Protocol:
    """How the challenge's images are spoken to, as far as it says."""
    return "batch" if configured.batch else "service"


def _bytes(written: str) -> int:
    return int(written[:-1]) << _UNITS[written[-1]]
