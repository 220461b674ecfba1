"""Archives of images made in memory, as several programs write them, and with whatever is wrong with them."""

import io
import json
import tarfile
from collections.abc import Iterable, Sequence
from typing import Any

from containers.standin_registry import sha256

Named = tuple[str, bytes]
CONFIG: dict[str, Any] = {"architecture": "amd64", "os": "linux", "config": {"Cmd": ["/start"]}}


def entry(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, **facts: Any
) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.size, made.type = len(content), kind
    for fact, value in facts.items():
        setattr(made, fact, value)
    return made, content


def layer(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for made, content in entries:
            archive.addfile(made, io.BytesIO(content))
    return packed.getvalue()


def packed(files: Iterable[Named]) -> bytes:
    return layer(*(entry(name, content) for name, content in files))


def description(*layers: bytes, **changed: Any) -> bytes:
    told = {"type": "layers", "diff_ids": [sha256(one) for one in layers]}
    return json.dumps(CONFIG | {"rootfs": told} | changed).encode()


def docker_files(*layers: bytes, **changed: Any) -> list[Named]:
    """As ``docker save`` up to version 24 writes them."""
    config = description(*layers, **changed)
    name = f"{sha256(config)[7:]}.json"
    names = [f"{at}/layer.tar" for at in range(len(layers))]
    listed = [{"Config": name, "RepoTags": ["x:1"], "Layers": names}]
    return [*zip(names, layers, strict=True), (name, config), ("manifest.json", json.dumps(listed).encode())]


def blob(content: bytes) -> Named:
    return f"blobs/{sha256(content).replace(':', '/')}", content


def named(content: bytes, **changed: Any) -> dict[str, Any]:
    return {"digest": sha256(content), "size": len(content)} | changed


def index(*manifests: dict[str, Any]) -> bytes:
    return json.dumps({"schemaVersion": 2, "manifests": manifests}).encode()


def oci_files(
    layers: Sequence[tuple[bytes, bytes]], changed: dict[str, Any] | None = None, listed: bytes | None = None
) -> list[Named]:
    """An OCI layout of layers as they are and as they are packed."""
    config = description(*(plain for plain, _ in layers))
    told = {"schemaVersion": 2, "config": named(config), "layers": [named(travels) for _, travels in layers]}
    manifest = json.dumps(told | (changed or {})).encode()
    blobs = dict([*(blob(travels) for _, travels in layers), blob(config), blob(manifest)])
    top = index(named(manifest)) if listed is None else listed
    return [("oci-layout", b'{"imageLayoutVersion":"1.0.0"}'), *blobs.items(), ("index.json", top)]


def manifest_of(files: Iterable[Named]) -> bytes:
    """The manifest among the files of a layout."""
    return next(
        content for name, content in files if name.startswith("blobs/") and content[:30].find(b"schemaVersion") > 0
    )
