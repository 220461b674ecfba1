#!/usr/bin/env python3
"""``make sbom``: what sandscore and all its extras are made of, as CycloneDX 1.6 on standard output.

From the metadata of what is installed and the hashes of constraints.txt. The same environment gives the same bytes: no
time is in it, and the serial number follows from the content.
"""

import hashlib
import json
import re
import sys
import uuid
from importlib.metadata import Distribution, distribution
from typing import Any

from packaging.requirements import Requirement
from tools.lock import CONSTRAINTS, locked, normalised

ROOT_NAME = "sandscore"
EXTRAS = ("all",)


def needed(name: str, extras: tuple[str, ...] = (), seen: dict[str, set[str]] | None = None) -> dict[str, set[str]]:
    """Each distribution that is needed by name, and the names of those that it needs itself."""
    seen = {} if seen is None else seen
    known = normalised(name)
    direct = seen.setdefault(known, set())
    for text in distribution(name).requires or []:
        requirement = Requirement(text)
        asked = [{"extra": extra} for extra in extras] or [{"extra": ""}]
        if requirement.marker is not None and not any(requirement.marker.evaluate(one) for one in asked):
            continue
        child = normalised(requirement.name)
        new = child != known and child not in direct
        direct |= {child} - {known}
        if new or (child == known and set(requirement.extras) - set(extras)):
            needed(requirement.name, tuple(requirement.extras), seen)
    return seen


def component(found: Distribution, digests: list[str]) -> dict[str, Any]:
    """One library: what it is called, under which licence it comes, and its files by hash."""
    name = normalised(found.metadata["Name"])
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference(name),
        "name": name,
        "version": found.version,
        "purl": reference(name),
    }
    if licence := licence_of(found):
        made["licenses"] = [licence]
    files = [{"url": f"https://pypi.org/project/{name}/{found.version}/", "type": "distribution"}]
    if digests:
        hashes = [{"alg": "SHA-256", "content": digest} for digest in digests]
        made["externalReferences"] = [{**files[0], "hashes": hashes}]
    return made


def licence_of(found: Distribution) -> dict[str, Any] | None:
    """An SPDX expression where there is one; else the words of its classifier, or of its first line."""
    told = {key: found.metadata[key] for key in ("License-Expression", "License") if key in found.metadata}
    if expression := told.get("License-Expression"):
        return {"expression": expression}
    classified = [
        c.rpartition(" :: ")[2] for c in found.metadata.get_all("Classifier") or [] if c.startswith("License ::")
    ]
    words = classified or [line for line in told.get("License", "").splitlines()[:1] if line.strip()]
    return {"license": {"name": words[0].strip()}} if words else None


def reference(name: str) -> str:
    return f"pkg:pypi/{name}@{distribution(name).version}"


def bill() -> dict[str, Any]:
    """The whole document."""
    hashes = locked(CONSTRAINTS.read_text(encoding="ascii"))
    parts = needed(ROOT_NAME, EXTRAS)
    names = sorted(parts.keys() - {ROOT_NAME})
    own = component(distribution(ROOT_NAME), []) | {"type": "application"}
    made: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [component(distribution(name), hashes.get(name, ("", []))[1]) for name in names],
        "dependencies": [
            {"ref": reference(name), "dependsOn": sorted(map(reference, parts[name]))} for name in sorted(parts)
        ],
    }
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).digest()
    return {**made, "serialNumber": f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}"}


def main() -> int:
    sys.stdout.write(re.sub(r"\s+\Z", "", json.dumps(bill(), indent=2)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
