"""What a child process inherits: an allow-list, so that no token reaches it."""

import os
from collections.abc import Mapping

_COMMON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "SANDSCORE_DEBUG")
_OF_THE_ENGINE = ("HOME", "DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_CONFIG")


def scorer_environment(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """For the process that sees gold and never runs anything of a participant's."""
    return {name: given[name] for name in _COMMON if name in given} | {"OPENBLAS_NUM_THREADS": "1"}


def runner_environment(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """For the process that runs containers: where the engine is, and neither gold nor tokens."""
    return {name: given[name] for name in (*_COMMON, *_OF_THE_ENGINE) if name in given}
