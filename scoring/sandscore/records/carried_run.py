"""The record of a run as a card or a row of a board carries it: all that was written, by whatever version."""

from msgspec import Struct
from pydantic import BaseModel, ConfigDict


class RunCost(Struct, frozen=True):
    """What a run took, as far as it says: seconds from start to end, seconds of processors, bytes of memory at most."""

    seconds: float | None = None
    cpu_seconds: float | None = None
    memory_bytes: float | None = None


class CarriedRun(BaseModel):
    """The record of a run, by whichever version: nothing in it is refused, and it is written again as it came."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    @property
    def cost(self) -> RunCost:
        """What boards read of it: None for what is missing, or no number."""
        said = self.model_extra or {}
        times = said.get("seconds")
        total = times.get("total") if isinstance(times, dict) else None
        return RunCost(_number(total), _number(said.get("cpu_seconds")), _number(said.get("peak_memory_bytes")))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
