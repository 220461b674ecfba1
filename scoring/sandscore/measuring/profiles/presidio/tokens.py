"""Text to tokens."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)
