"""Builds the image of every example submission: python tools/example_images.py [BASE]."""

import json
import sys

from sandscore.base.bundled_content import submissions
from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.containers.participant_template import example
from sandscore.task_table.task import find_task

BASE = "sandscore-base:bookworm"


def main(base: str) -> None:
    """One image a folder that has a manifest: sandscore-example/<folder>."""
    with docker_client() as client:
        for manifest in sorted(submissions().glob("*/submission.json")):
            name = manifest.parent.name
            task = find_task(json.loads(manifest.read_text(encoding="utf-8"))["task"])
            identity = build_image(client, f"sandscore-example/{name}", example(name, task), {"BASE": base})
            print(f"sandscore-example/{name} {identity}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else BASE)
