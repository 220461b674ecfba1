"""Archives of images: read as several programs write them, refused by name, unpacked by a rule.

The rule is that of the Open Container Initiative's image specification ("Applying Changesets", "Whiteouts"), written
down a second time below for trees in memory.
"""

import gzip
import io
import json
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import zstandard
from containers.image_archives import (
    Named,
    blob,
    docker_files,
    entry,
    index,
    layer,
    manifest_of,
    named,
    oci_files,
    packed,
)
from containers.standin_registry import sha256
from hypothesis import example, given
from hypothesis import strategies as st

from sandscore.base.errors import MissingFile
from sandscore.containers.images.image_archive import find_archived, image_archive
from sandscore.containers.images.layer_unpacking import unpack_layers
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits

LARGE = 10 << 30
START = entry("start", b"#!/bin/sh\n", mode=0o4755)
PLAIN = layer(entry("bin", kind=tarfile.DIRTYPE, mode=0o755), START)


@pytest.fixture(autouse=True)
def amd64(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "image.tar"
    path.write_bytes(content)
    return path


def unpacked(tmp_path: Path, content: bytes, most: int = LARGE) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    with image_archive(written(tmp_path, content), most) as image:
        unpack_layers(image, os.fsencode(root), most)
    return root


def refusal(tmp_path: Path, content: bytes, most: int = LARGE) -> str:
    with pytest.raises(RunFault) as told:
        unpacked(tmp_path, content, most)
    assert told.value.outcome is Outcome.IMAGE_MISSING, "exit code 65"
    return told.value.reason


def repeated_links() -> bytes:
    """As ``docker save`` writes a layer that it has written before."""
    [(name, content), *rest] = docker_files(PLAIN)
    made = [entry("other/layer.tar", content), entry(name, kind=tarfile.SYMTYPE, linkname="../other/layer.tar")]
    return layer(*made, *(entry(*one) for one in rest))


FORMS: dict[str, Callable[[], bytes]] = {
    "docker save": lambda: packed(docker_files(PLAIN)),
    "docker save, a layer twice": repeated_links,
    "OCI": lambda: packed(oci_files([(PLAIN, PLAIN)])),
    "OCI, gzip": lambda: packed(oci_files([(PLAIN, gzip.compress(PLAIN))])),
    "OCI, zstd": lambda: packed(oci_files([(PLAIN, zstandard.compress(PLAIN))])),
    "packed as a whole": lambda: gzip.compress(packed(oci_files([(PLAIN, PLAIN)]))),
    "packed by zstd": lambda: zstandard.compress(packed(docker_files(PLAIN))),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_read(tmp_path: Path, form: str) -> None:
    root = unpacked(tmp_path, FORMS[form]())
    assert sorted(path.name for path in root.iterdir()) == ["bin", "start"]
    assert (root / "start").read_bytes() == b"#!/bin/sh\n"
    assert stat.S_IMODE((root / "start").stat().st_mode) == 0o755, "it changes no user"


def test_the_image_for_this_machine_is_chosen(tmp_path: Path) -> None:
    """A list in the index, with one image for another machine and one that says who built it."""
    files = oci_files([(PLAIN, PLAIN)])
    manifest = manifest_of(files)
    other = {"os": "linux", "architecture": "arm64"}
    ours = {"os": "linux", "architecture": "amd64"}
    nobody = {"os": "unknown", "architecture": "unknown"}
    listed = index(named(b"x", platform=other), named(b"y", platform=nobody), named(manifest, platform=ours))
    media = "application/vnd.oci.image.index.v1+json"
    top = [(name, content) for name, content in files if name != "index.json"]
    content = packed([*top, blob(listed), ("index.json", index(named(listed, mediaType=media)))])
    assert (unpacked(tmp_path, content) / "start").exists()


def without(files: list[Named], name: str) -> list[Named]:
    return [(one, content) for one, content in files if one != name]


def layout(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    made = layer(*entries)
    return packed(oci_files([(made, gzip.compress(made))]))


def raw(name: bytes, kind: bytes = b"0", size: int = 0, magic: bytes = b"ustar\x0000") -> bytes:
    """A header written by hand, as no library would."""
    block = bytearray(512)
    block[: len(name)] = name
    block[100:136] = b"0000644\x000000000\x000000000\x00%011o\x00" % size
    block[136:148] = b"%011o\x00" % 0
    block[156:157] = kind
    block[257:265] = magic
    block[148:156] = b"%06o\x00 " % (sum(block) + 8 * 32)
    return bytes(block)


def by_hand(content: bytes) -> bytes:
    whole = content + bytes(1024)
    return packed(oci_files([(whole, whole)]))


def extended(**records: str) -> bytes:
    lines = b""
    for key, value in records.items():
        rest = f" {key.replace('__', '.')}={value}\n".encode()
        length = len(rest) + 2
        lines += f"{length if len(str(length)) == 2 else length + 1}".encode() + rest
    return raw(b"x", b"x", len(lines)) + lines + bytes(-len(lines) % 512)


def manifest_with(**changed: Any) -> bytes:
    return packed(oci_files([(PLAIN, PLAIN)], changed))


def nested(levels: int) -> bytes:
    media = "application/vnd.oci.image.index.v1+json"
    files = oci_files([(PLAIN, PLAIN)])
    listed, blobs = index(named(manifest_of(files))), []
    for _ in range(levels):
        blobs.append(blob(listed))
        listed = index(named(listed, mediaType=media))
    return packed([*without(files, "index.json"), *blobs, ("index.json", listed)])


def swapped(form: list[Named], name: str, content: bytes) -> bytes:
    assert any(one.startswith(name) for one, _ in form)
    return packed((one, content if one.startswith(name) else was) for one, was in form)


BOMB = layer(entry("zeros", bytes(64 << 20)))
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "absolute name": (lambda: by_hand(raw(b"/etc/passwd")), "names a file outside: 'etc/passwd'"),
    "dot-dot name": (lambda: layout(entry("a/../../x")), "names a file outside"),
    "dot-dot inside": (lambda: layout(entry("a/../b")), "names a file outside"),
    "absolute in an extended header": (lambda: by_hand(extended(path="/x") + raw(b"x")), "names a file outside"),
    "hard link out": (lambda: layout(entry("x", kind=tarfile.LNKTYPE, linkname="../etc/passwd")), "a file outside"),
    "hard link to an absolute name": (
        lambda: layout(entry("x", kind=tarfile.LNKTYPE, linkname="/etc/passwd")),
        "names a file outside",
    ),
    "hard link to nothing": (
        lambda: layout(entry("x", kind=tarfile.LNKTYPE, linkname="y")),
        "has a link to a file that it does not have: 'x'",
    ),
    "hard link to a folder": (
        lambda: layout(entry("d", kind=tarfile.DIRTYPE), entry("x", kind=tarfile.LNKTYPE, linkname="d")),
        "has a link to a file that it does not have",
    ),
    "hard link to itself": (
        lambda: layout(entry("x", kind=tarfile.LNKTYPE, linkname="x")),
        "has a link to a file that it does not have",
    ),
    "symbolic link out": (
        lambda: layout(entry("a/x", kind=tarfile.SYMTYPE, linkname="../../etc")),
        "has a link that leads out: 'a/x'",
    ),
    "links in circles": (
        lambda: layout(
            entry("a", kind=tarfile.SYMTYPE, linkname="b"), entry("b", kind=tarfile.SYMTYPE, linkname="a"), entry("a/x")
        ),
        "links that lead in circles",
    ),
    "character device": (lambda: layout(entry("x", kind=tarfile.CHRTYPE)), "has a device or a pipe: 'x'"),
    "block device": (lambda: layout(entry("etc/disk", kind=tarfile.BLKTYPE)), "has a device or a pipe"),
    "pipe": (lambda: layout(entry("x", kind=tarfile.FIFOTYPE)), "has a device or a pipe"),
    "two entries of one name": (lambda: layout(entry("x", b"1"), entry("./x", b"2")), "two entries of one name: 'x'"),
    "a file and a folder of one name": (
        lambda: layout(entry("x", b"1"), entry("x", kind=tarfile.DIRTYPE)),
        "two entries of one name",
    ),
    "file below a file": (lambda: layout(entry("x", b"1"), entry("x/y")), "a file in the place of a folder: 'x'"),
    "sparse file": (lambda: by_hand(raw(b"x", b"S")), "an entry of a kind that no image needs"),
    "sparse by extended header": (
        lambda: by_hand(extended(GNU__sparse__major="1") + raw(b"x")),
        "an entry of a kind that no image needs",
    ),
    "unknown kind": (lambda: by_hand(raw(b"x", b"Z")), "an entry of a kind that no image needs"),
    "names for all": (lambda: by_hand(extended(path="x").replace(b"x", b"g", 1)), "is not a tar"),
    "content behind a link": (lambda: by_hand(raw(b"x", b"2", 512) + bytes(512)), "has content where none can be"),
    "huge header": (lambda: by_hand(raw(b"x", b"x", 1 << 30)), "a header that is too long"),
    "huge name": (
        lambda: layout(entry("a/" * 3000 + "x")),
        "a name that is too long",
    ),
    "size that is none": (lambda: by_hand(extended(size="-1") + raw(b"x")), "a size that is none"),
    "wrong sum": (lambda: by_hand(raw(b"x").replace(b"644", b"777")), "is not a tar"),
    "cut off": (lambda: packed(oci_files([(PLAIN[:700], PLAIN[:700])])), "ends in the middle of a file"),
    "more after the end": (lambda: by_hand(raw(b"x") + bytes(1024) + raw(b"y")), "goes on after its end"),
    "whiteout of nothing": (lambda: layout(entry("a/.wh.")), "takes away what has no name"),
    "whiteout of the folder above": (lambda: layout(entry("a/.wh...")), "takes away what has no name"),
    "wrong layer": (lambda: swapped(docker_files(PLAIN), "0/", layer(entry("evil"))), "not what the image says it is"),
    "wrong description": (
        lambda: swapped(docker_files(PLAIN), sha256(docker_files(PLAIN)[1][1])[7:], b"{}"),
        "a file of it is not what its name says",
    ),
    "wrong packed layer": (
        lambda: swapped(oci_files([(PLAIN, PLAIN)]), blob(PLAIN)[0], PLAIN[:-512] + b"x" * 512),
        "goes on after its end",
    ),
    "wrong bytes in a layer": (
        lambda: swapped(oci_files([(PLAIN, PLAIN)]), blob(PLAIN)[0], PLAIN.replace(b"#!/bin/sh", b"#!/bin/no")),
        "a file of it is not what its name says",
    ),
    "wrong manifest": (
        lambda: swapped(oci_files([(PLAIN, PLAIN)]), blob(manifest_of(oci_files([(PLAIN, PLAIN)])))[0], b"{}"),
        "a file of it is not what its name says",
    ),
    "layer that is not there": (lambda: packed(without(docker_files(PLAIN), "0/layer.tar")), "there is no 0/layer.tar"),
    "fewer layers than it says": (lambda: manifest_with(layers=[]), "does not say what its layers are"),
    "a layer elsewhere": (
        lambda: manifest_with(layers=[named(PLAIN, urls=["https://evil.example.org/layer"])]),
        "a layer of it is elsewhere",
    ),
    "a digest of another kind": (
        lambda: manifest_with(layers=[{"digest": "sha512:" + "0" * 128, "size": 1}]),
        "its manifest is none",
    ),
    "a digest that climbs": (
        lambda: manifest_with(layers=[{"digest": "sha256:../../../etc/passwd", "size": 1}]),
        "its manifest is none",
    ),
    "lists in lists": (lambda: nested(2), "a list of images in a list of images"),
    "a list of itself": (lambda: packed([("oci-layout", b"{}"), ("index.json", index())]), "is not made for linux on"),
    "several images": (
        lambda: packed(oci_files([(PLAIN, PLAIN)], listed=index(named(b"x"), named(b"y")))),
        "it holds 2 images; save one alone",
    ),
    "several images, saved": (
        lambda: swapped(docker_files(PLAIN), "manifest", b'[{"Config":"a","Layers":[]},{"Config":"b","Layers":[]}]'),
        "it holds 2 images; save one alone",
    ),
    "for another machine": (lambda: packed(docker_files(PLAIN, architecture="s390x")), "is not made for linux on"),
    "for another system": (lambda: packed(docker_files(PLAIN, os="windows")), "is not made for linux on"),
    "two files of one name": (lambda: packed([*docker_files(PLAIN), ("manifest.json", b"[]")]), "two entries of one"),
    "no image": (lambda: packed([("readme", b"x")]), "it has neither manifest.json nor index.json"),
    "no tar": (lambda: b"x" * 2000, "is not a tar"),
    "nothing": (lambda: b"", "it has neither manifest.json nor index.json"),
    "cut off archive": (lambda: packed(docker_files(PLAIN))[:3000], "it ends in the middle of a file"),
    "packed otherwise": (lambda: packed(oci_files([(PLAIN, b"BZh91AY" + PLAIN)])), "something else than gzip or zstd"),
    "broken packing": (
        lambda: packed(oci_files([(PLAIN, gzip.compress(PLAIN)[:40])])),
        "not what the image says it is",
    ),
}


@pytest.mark.parametrize("way", HOSTILE)
def test_a_hostile_archive(tmp_path: Path, way: str) -> None:
    make, words = HOSTILE[way]
    assert words in refusal(tmp_path, make())


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what they unpack to, by how many files there are, and by how much comes out of how little."""
    small = packed(oci_files([(BOMB, gzip.compress(BOMB))]))
    assert len(small) < 1 << 20
    assert "more than the 10,000,000 allowed" in refusal(tmp_path, small, 10_000_000)
    shutil.rmtree(tmp_path / "root")
    assert "more than the 10,000,000 allowed" in refusal(
        tmp_path, gzip.compress(packed(docker_files(BOMB))), 10_000_000
    )
    shutil.rmtree(tmp_path / "root")
    monkeypatch.setattr("sandscore.containers.images.image_parts._UNSUSPECTED", 1 << 20)
    assert "packed more than 200 to one" in refusal(tmp_path, small)
    shutil.rmtree(tmp_path / "root")
    monkeypatch.setattr("sandscore.containers.images.image_parts.EntryTally.__init__.__defaults__", (9,))
    many = layout(*(entry(f"{at}") for at in range(10)))
    assert "the image has more than 9 files" in refusal(tmp_path, many)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "no.tar", "there is no such file"), (tmp_path, "Is a directory")):
        with pytest.raises(MissingFile, match=words), image_archive(path, LARGE):
            pass


def test_nothing_is_written_outside(tmp_path: Path) -> None:
    """Links of a lower layer that lead to the host's own files are read with the image as their root."""
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "kept").write_text("kept")
    links = layer(
        entry("up", kind=tarfile.SYMTYPE, linkname="/"),
        entry("host", kind=tarfile.SYMTYPE, linkname=str(tmp_path / "host")),
        entry("lib", kind=tarfile.SYMTYPE, linkname="usr/lib"),
        entry("usr/lib", kind=tarfile.DIRTYPE, mode=0o755),
    )
    through = layer(
        entry("host/written", b"1"),
        entry("host/.wh.kept"),
        entry("lib/library", b"2"),
        entry("up/up/top", b"3"),
        entry("hard", kind=tarfile.LNKTYPE, linkname="lib/library"),
    )
    root = unpacked(tmp_path, packed(docker_files(links, through)))
    assert sorted(path.name for path in (tmp_path / "host").iterdir()) == ["kept"]
    assert (root / f".{tmp_path}" / "host" / "written").read_bytes() == b"1"
    assert (root / "usr" / "lib" / "library").read_bytes() == b"2"
    assert (root / "top").read_bytes() == b"3"
    assert (root / "hard").samefile(root / "usr" / "lib" / "library")


def test_devices_below_dev_stay_behind(tmp_path: Path) -> None:
    """Debian's own base system brings them."""
    root = unpacked(tmp_path, layout(entry("dev/null", kind=tarfile.CHRTYPE, devmajor=1, devminor=3), START))
    assert [path.name for path in root.rglob("*")] == ["start"]


# A tree is a dict of folders (dicts), files (bytes) and links (str).
Tree = dict[str, Any]
NAMES = st.sampled_from("abc")
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
THINGS = st.one_of(
    st.just("folder"),
    st.binary(max_size=3),
    st.sampled_from(["a", "/b", "c/a"]),
    st.just("whiteout"),
    st.just("opaque"),
)
LAYERS = st.lists(st.lists(st.tuples(PATHS, THINGS), max_size=6, unique_by=lambda one: one[0]), max_size=4)


class Clash(Exception):
    """A layer contradicts itself."""


def by_the_rule(layers: list[list[tuple[tuple[str, ...], Any]]]) -> Tree:
    """Each layer first takes away of what is beneath it, all at once, then brings its own."""
    tree: Tree = {}
    for entries in layers:
        for path, thing in entries:
            if thing == "opaque" and isinstance(found := at(tree, path), dict):
                found.clear()
            if thing == "whiteout" and isinstance(above := at(tree, path[:-1]), dict):
                above.pop(path[-1], None)
        mine: set[tuple[str, ...]] = set()
        for path, thing in entries:
            if thing in ("whiteout", "opaque"):
                continue
            above = tree
            for depth, part in enumerate(path[:-1], 1):
                if not isinstance(above.get(part), dict):
                    if path[:depth] in mine:
                        raise Clash
                    above[part] = {}
                above = above[part]
            mine |= {path[:depth] for depth in range(1, len(path) + 1)}
            if thing != "folder":
                above[path[-1]] = thing
            elif not isinstance(above.get(path[-1]), dict):
                above[path[-1]] = {}
    return tree


def at(tree: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def as_entry(path: tuple[str, ...], thing: Any) -> tuple[tarfile.TarInfo, bytes]:
    name = "/".join(path)
    match thing:
        case "folder":
            return entry(name, kind=tarfile.DIRTYPE, mode=0o755)
        case "whiteout":
            return entry("/".join((*path[:-1], f".wh.{path[-1]}")))
        case "opaque":
            return entry(f"{name}/.wh..wh..opq")
        case str():
            return entry(name, kind=tarfile.SYMTYPE, linkname=thing)
        case _:
            return entry(name, thing)


def found_in(folder: Path) -> Tree:
    found: Tree = {}
    for path in folder.iterdir():
        if path.is_symlink():
            found[path.name] = str(path.readlink())
        else:
            found[path.name] = found_in(path) if path.is_dir() else path.read_bytes()
    return found


def no_links_above(layers: list[list[tuple[tuple[str, ...], Any]]]) -> bool:
    """Nothing is named through a link: where a link leads is a test of its own."""
    links = {p for entries in layers for p, t in entries if isinstance(t, str) and t in ("a", "/b", "c/a")}
    named = {p[:depth] for entries in layers for p, t in entries for depth in range(1, len(p) + (t == "opaque"))}
    return not links & named


@given(LAYERS.filter(no_links_above))
@example([[(("a",), b"1")], [(("a", "b"), b"2"), (("a",), "whiteout")]])
@example([[(("a", "b"), b"1")], [(("a", "c"), b"2"), (("a",), "opaque")]])
@example([[(("a", "b", "c"), b"1")], [(("a", "b", "a"), b"2"), (("a",), "whiteout")]])
def test_layers_are_put_upon_each_other_by_the_rule(layers: list[list[tuple[tuple[str, ...], Any]]]) -> None:
    try:
        expected: Tree | None = by_the_rule(layers)
    except Clash:
        expected = None
    made = [layer(*(as_entry(path, thing) for path, thing in entries)) for entries in layers]
    with tempfile.TemporaryDirectory() as folder:
        try:
            found: Tree | None = found_in(unpacked(Path(folder), packed(docker_files(*made))))
        except RunFault as fault:
            assert "in the place of a folder" in fault.reason  # noqa: PT017 (one side of a comparison)
            found = None
    assert found == expected


@given(st.integers(0, 4), st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=12)), max_size=4))
def test_whatever_is_changed_is_read_or_refused(form: int, changes: list[tuple[int, bytes]]) -> None:
    content = bytearray(list(FORMS.values())[form]())
    for place, change in changes:
        begin = place % len(content)
        content[begin : begin + len(change)] = change
    with tempfile.TemporaryDirectory() as folder, suppress(RunFault):
        unpacked(Path(folder), bytes(content))


class Keeping:
    """An engine's memory: archives by the name they give themselves."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.loads = 0

    def find_image(self, reference: str, limits: RunLimits) -> ImageFacts:
        return ImageFacts(reference=reference, id=reference, size_bytes=len(self.kept[reference]))

    def image_id(self, name: str) -> str | None:
        return name if name in self.kept else None

    def load_image(self, archive: Iterator[bytes]) -> None:
        self.loads += 1
        whole = b"".join(archive)
        with tarfile.open(fileobj=io.BytesIO(whole)) as read:
            listed = read.extractfile("manifest.json")
            assert listed is not None
            [name] = json.loads(listed.read())[0]["RepoTags"]
        self.kept[name] = whole

    def credentials(self, registry: str) -> tuple[str, str] | None:
        return None


def test_an_engine_takes_it_in_once_and_whole(tmp_path: Path) -> None:
    """In either form it is the same image, which bears the digest of its description."""
    engine, names = Keeping(), set()
    for content in (packed(docker_files(PLAIN)), packed(oci_files([(PLAIN, gzip.compress(PLAIN))]))):
        for _ in range(2):
            facts = find_archived(engine, written(tmp_path, content), RunLimits())
            names.add((facts.reference, facts.id))
    assert engine.loads == 1
    assert names == {("oci-archive:image.tar", next(iter(engine.kept)))}
    [again] = engine.kept.values()
    assert (unpacked(tmp_path, again) / "start").exists(), "what is handed on is an archive of the same image"


@pytest.mark.parametrize("way", ["symbolic link out", "character device", "wrong layer", "two entries of one name"])
def test_an_engine_is_given_no_hostile_archive(tmp_path: Path, way: str) -> None:
    engine = Keeping()
    with pytest.raises(RunFault):
        find_archived(engine, written(tmp_path, HOSTILE[way][0]()), RunLimits())
    assert engine.kept == {}
