"""The record that holds what it names and nothing else: the base of what people and other programs hand us."""

from pydantic import BaseModel, ConfigDict


class StrictRecord(BaseModel):
    """Unknown keys are refused. Its checks are built when they are first needed: no command needs those of all."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
