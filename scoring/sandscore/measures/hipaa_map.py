"""The labels that HIPAA protects: data with a version, bundled or an organiser's own."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from sandscore.base.bundled_content import hipaa_map
from sandscore.base.byte_sources import opened
from sandscore.base.errors import OrganiserFault
from sandscore.base.strict_json import JsonFault, loads


class HipaaMap(Struct, frozen=True):
    """Label to protected or not, and the bytes of the file it came from."""

    version: str
    protected: dict[str, bool]
    source: bytes

    @property
    def digest(self) -> str:
        """The file's SHA-256."""
        from hashlib import sha256

        return sha256(self.source).hexdigest()

    def codes(self, names: list[str]) -> list[int]:
        """1 for each protected name, 0 for the others; a name the map lacks is the organiser's fault."""
        lacking = [name for name in names if name not in self.protected]
        if lacking:
            raise OrganiserFault(f"the HIPAA map says nothing about {', '.join(lacking)}")
        return [int(self.protected[name]) for name in names]


def load_hipaa_map(path: str | Path | None = None) -> HipaaMap:
    """The map of that file, else the bundled one."""
    chosen = path or hipaa_map()
    with opened(chosen) as source:
        raw = bytes(source.data)
    try:
        value: Any = loads(raw)
    except JsonFault as fault:
        raise OrganiserFault(f"{chosen}: {fault}") from None
    table = value.get("hipaa_phi") if isinstance(value, dict) else None
    if not isinstance(table, dict) or not all(isinstance(v, bool) for v in table.values()):
        raise OrganiserFault(f'{chosen}: expected {{"version": "…", "hipaa_phi": {{"city": true, …}}}}')
    protected = {name.strip().lower(): flag for name, flag in table.items()}
    return HipaaMap(str(value.get("version", "")), protected, raw)
