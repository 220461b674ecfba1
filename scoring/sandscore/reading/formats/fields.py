"""Values taken out of decoded JSON, each with a sentence for the file that holds something else there."""

from typing import Any

from sandscore.reading.formats.corpus import clipped
from sandscore.records.errors import ParticipantFault


def listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ParticipantFault(f"{where}: expected a list, found {_kind(value)}")
    return value


def mapping(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ParticipantFault(f"{where}: expected an object, found {_kind(value)}")
    return value


def text_of(holder: dict[str, Any], key: str, where: str) -> str:
    value = holder.get(key)
    if not isinstance(value, str):
        raise ParticipantFault(f"{where}: {key} should be a string, found {_kind(value)}")
    return value


def text_or_none(holder: dict[str, Any], key: str, where: str) -> str | None:
    return None if holder.get(key) is None else text_of(holder, key, where)


def whole(holder: dict[str, Any], key: str, where: str) -> int:
    """An integer; ``9.0`` is one, ``true`` is none."""
    value = holder.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ParticipantFault(f"{where}: {key} should be an integer, found {_kind(value)}")
    return int(value)


def confidence_of(holder: dict[str, Any], where: str) -> float | None:
    value = holder.get("confidence")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise ParticipantFault(f"{where}: confidence should be a number from 0 to 100, found {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, bool | float):
        return str(value).lower()
    if isinstance(value, int):
        return clipped(value)
    return "a list" if isinstance(value, list) else "an object"
