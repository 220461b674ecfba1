"""Runs in the environment of roc-validator: are these research crates? Nothing is asked of the network.

Cases on standard input: {"crate": PATH, "context": PATH}. The context is RO-Crate's own for version 1.1
(github.com/ResearchObject/ro-crate, Apache-2.0), kept beside the tests.
"""

import json
import lzma
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

ADDRESS = "https://w3id.org/ro/crate/1.1/context"


def judged(case: dict[str, str]) -> dict[str, Any]:
    """What the validator finds, down to what is only recommended, and what it asked the network for."""
    models, services, requests = map(
        import_module, ("rocrate_validator.models", "rocrate_validator.services", "requests")
    )
    asked: list[str] = []

    def answer(_session: object, request: Any, **_options: object) -> Any:
        asked.append(request.url)
        found = requests.Response()
        found.status_code, found.url, found.request = 404, request.url, request
        if request.url == ADDRESS:
            found.status_code = 200
            found.headers["Content-Type"] = "application/ld+json"
            found._content = lzma.decompress(Path(case["context"]).read_bytes())
        return found

    with mock.patch.object(requests.Session, "send", answer):
        settings = services.ValidationSettings(
            rocrate_uri=models.URI(case["crate"]),
            profile_identifier="ro-crate-1.1",
            requirement_severity=models.Severity.RECOMMENDED,
            no_cache=True,
        )
        result = services.validate(settings)
    issues = [f"{one.severity.name}: {one.check.identifier}: {one.message}" for one in result.get_issues()]
    return {"issues": issues, "checked": len(result.executed_checks), "asked": sorted(set(asked))}


if __name__ == "__main__":
    json.dump([judged(case) for case in json.load(sys.stdin)["cases"]], sys.stdout)
