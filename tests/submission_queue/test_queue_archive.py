"""The archive of a challenge: a research crate, as a validator of others says; checked by itself, without secrets."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peers.originals import answers_of
from queue_samples import GOLD, HALF, HIDDEN, RIGHT, hand_in, queue

from sandscore.cli.main import run
from sandscore.queue.workspace import Workspace

pytestmark = pytest.mark.usefixtures("near_children")

CONTEXT = Path(__file__).with_name("ro_crate") / "context-1.1.jsonld.xz"
METADATA = "ro-crate-metadata.json"
YEAR = """
challenge = "year"
title = "A year's challenge"
resamples = 100
randomisations = 99
data = {notes = "public", gold = "public"}
publication.license = "CC-BY-4.0"
publication.citation = "Organisers, A year's challenge, 2026"
publication.url = "https://example.org/year"

[[phases]]
name = "spring & summer"

[[phases]]
name = "autumn"
closes = 2100-01-01T00:00:00Z
"""


def worked(folder: Path, configuration: str = YEAR) -> Workspace:
    workspace = queue(folder, configuration)
    for team, spans in (("Team A", RIGHT), ("Team B", HALF)):
        phase = "autumn" if configuration is YEAR else None
        hand_in(workspace, spans, team, phase=phase)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    return workspace


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    root = worked(folder).root
    gold = folder / "challenge" / "date.json"
    entries = json.loads(gold.read_bytes())
    entries[0]["textDateAnnotations"].pop()
    gold.write_text(json.dumps(entries))
    assert run(["queue", "rescore", str(root), "--apply", "--as", "Ada Lovelace", "--cause", "n1 was wrong"]) == 0
    assert run(["queue", "archive", str(root), "-o", str(folder / "challenge-2026.zip")]) == 0
    shutil.rmtree(root)
    shutil.rmtree(folder / "challenge")
    return folder / "challenge-2026.zip"


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def changed(archive: Path, target: Path, change: Callable[[dict[str, bytes]], Any]) -> Path:
    files = contents(archive)
    change(files)
    return packed(target, files)


@pytest.mark.peer
def test_it_is_a_research_crate_by_roc_validator(archive: Path, tmp_path: Path) -> None:
    def without_date(files: dict[str, bytes]) -> None:
        files[METADATA] = files[METADATA].replace(b'"datePublished"', b'"dateSomething"')

    cases = [str(archive), str(changed(archive, tmp_path / "odd.zip", without_date))]
    good, odd = answers_of(
        "roc-validator", "crate_original.py", [{"crate": case, "context": str(CONTEXT)} for case in cases]
    )
    assert good["asked"] == ["https://w3id.org/ro/crate/1.1/context"]
    assert good["issues"] == [], "nothing required and nothing recommended is missing"
    assert good["checked"] > 30
    assert any("REQUIRED" in issue and "datePublished" in issue for issue in odd["issues"])


def test_it_says_what_is_in_it(archive: Path) -> None:
    files = contents(archive)
    graph = {one["@id"]: one for one in json.loads(files[METADATA])["@graph"]}
    assert {"boards/date-autumn.json", "boards/date-autumn.v1.json", "log/entries.jsonl"} < files.keys()
    assert sum(name.startswith("cards/") for name in files) == 4
    assert graph["./"]["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    assert graph["#citation"]["name"] == "Organisers, A year's challenge, 2026"
    assert graph["#phase-autumn"]["endDate"] == "2100-01-01T00:00:00Z"
    assert "#phase-spring%20%26%20summer" in graph
    history = json.loads(files["history.json"])
    assert [(board["file"], board["rows"]) for board in history["boards"]] == [
        ("boards/date-autumn.v1.json", 2),
        ("boards/date-autumn.json", 2),
    ]
    assert [order["what"] for order in history["orders"]] == ["rescore"]
    assert b"Lovelace" not in b"".join(files.values())
    assert b"n1 was wrong" not in b"".join(files.values())


@pytest.mark.parametrize("unpacked", [False, True], ids=["archive", "folder"])
def test_it_is_verified_alone_on_a_machine_without_gold(archive: Path, tmp_path: Path, unpacked: bool) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    given = Path(shutil.copy(archive, place))
    if unpacked:
        shutil.unpack_archive(given, place / "open")
        given = place / "open"
    code = "from sandscore.cli.main import main; main()"
    words = ["verify", str(given), "--require", "recomputed", "--format", "json"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(place)}
    ran = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, cwd=place, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert said["files"] == len(contents(archive)) - 1
    assert [(board["board"], board["level"], "log" in board) for board in said["boards"]] == [
        ("boards/date-autumn.json", "recomputed", True),
        ("boards/date-autumn.v1.json", "recomputed", True),
    ]


def _hash_again(files: dict[str, bytes], name: str, content: bytes) -> None:
    """A file and what is said of it, changed together by somebody who knows how."""
    import hashlib

    metadata = json.loads(files[METADATA])
    for one in metadata["@graph"]:
        if one["@id"] == name:
            one["sha256"], one["contentSize"] = hashlib.sha256(content).hexdigest(), str(len(content))
    files |= {name: content, METADATA: json.dumps(metadata).encode()}


def _board(files: dict[str, bytes]) -> None:
    name = "boards/date-autumn.json"
    _hash_again(files, name, files[name].replace(b"Team A", b"Team C"))


def _declared(files: dict[str, bytes], name: str) -> None:
    metadata = json.loads(files[METADATA])
    metadata["@graph"].append({"@id": name, "@type": "File", "sha256": "0" * 64, "contentSize": "1"})
    files |= {METADATA: json.dumps(metadata).encode(), name: b"x"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            lambda f: f.update({"history.json": b"{}"}), "history.json is not as it was archived", id="edited"
        ),
        pytest.param(lambda f: f.pop("log/checkpoint"), "lacks log/checkpoint", id="taken away"),
        pytest.param(lambda f: f.update({"more.json": b"{}"}), "holds more.json, which", id="added"),
        pytest.param(_board, "date-autumn.json", id="a board and its hash"),
        pytest.param(lambda f: _declared(f, "../outside"), "no archive has: ../outside", id="outside"),
        pytest.param(lambda f: _declared(f, "/etc/x"), "no archive has: /etc/x", id="absolute"),
        pytest.param(lambda f: f.pop(METADATA), "it has no ro-crate-metadata.json", id="no description"),
        pytest.param(lambda f: f.update({METADATA: b"[]"}), "does not describe an archive", id="another description"),
        pytest.param(lambda f: f.update({METADATA: b"\xff{"}), "does not describe an archive", id="no UTF-8"),
    ],
)
def test_whatever_is_touched_is_named(
    archive: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[dict[str, bytes]], Any],
    said: str,
) -> None:
    assert run(["verify", str(changed(archive, tmp_path / "odd.zip", change))]) == 65
    assert said in capsys.readouterr().err
    assert not (tmp_path.parent / "outside").exists()


@pytest.mark.parametrize("keep", [4, 100, 0.5, 0.99])
def test_a_part_of_an_archive_is_none(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], keep: float
) -> None:
    content = archive.read_bytes()
    (tmp_path / "part.zip").write_bytes(content[: keep if isinstance(keep, int) else int(len(content) * keep)])
    assert run(["verify", str(tmp_path / "part.zip")]) == 65
    assert "is not a whole archive" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("record", "at", "value"),
    [
        pytest.param(b"PK\x01\x02", 10, struct.pack("<H", 12), id="said to be bzip2"),
        pytest.param(b"PK\x01\x02", 10, struct.pack("<H", 14), id="said to be LZMA"),
        pytest.param(b"PK\x01\x02", 10, struct.pack("<H", 99), id="packed by nobody"),
        pytest.param(b"PK\x05\x06", 16, struct.pack("<I", 1 << 31), id="begins before the file"),
        pytest.param(b"PK\x05\x06", 12, struct.pack("<I", 0), id="no directory"),
    ],
)
def test_records_that_lie_are_damage(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], record: bytes, at: int, value: bytes
) -> None:
    """Records and places in them are those of PKWARE's APPNOTE.TXT, 4.3.12 and 4.3.16."""
    odd = bytearray(archive.read_bytes())
    for found in re.finditer(re.escape(record), bytes(odd)):
        odd[found.start() + at : found.start() + at + len(value)] = value
    (tmp_path / "odd.zip").write_bytes(odd)
    assert run(["verify", str(tmp_path / "odd.zip")]) == 65
    assert "archive" in capsys.readouterr().err


def test_every_flipped_byte_of_a_file_is_noticed(archive: Path, tmp_path: Path) -> None:
    """Forty places, evenly spread over the archive: in a name, a number or a content, never passed over."""
    content = archive.read_bytes()
    for at in range(0, len(content), max(1, len(content) // 40)):
        odd = bytearray(content)
        odd[at] ^= 0x10
        (tmp_path / "odd.zip").write_bytes(odd)
        code = run(["verify", str(tmp_path / "odd.zip")])
        with zipfile.ZipFile(archive) as whole:
            same = code == 0 and _same(whole, tmp_path / "odd.zip")
        assert code in (65, 66) or same, at


def _same(whole: zipfile.ZipFile, odd: Path) -> bool:
    """Whether a flipped bit changed nothing that anybody reads: a date, a version needed, a mode."""
    with zipfile.ZipFile(odd) as other:
        return {name: whole.read(name) for name in whole.namelist()} == {
            name: other.read(name) for name in other.namelist()
        }


def test_what_is_hidden_is_not_in_it(tmp_path: Path) -> None:
    root = worked(tmp_path, HIDDEN).root
    assert run(["queue", "archive", str(root), "-o", str(tmp_path / "a.zip")]) == 0
    files = contents(tmp_path / "a.zip")
    assert not any(name.startswith("cards/") for name in files)
    everything = b"".join(files.values()) + "".join(files).encode()
    for secret in ("Discharged", "10/26/2020", (root / "private/salt").read_text(), str(root), *GOLD):
        assert json.dumps(secret).encode() not in everything
        assert len(secret) < 5 or secret.encode() not in everything
    assert run(["verify", str(tmp_path / "a.zip")]) == 0


def test_the_same_queue_makes_the_same_bytes(tmp_path: Path) -> None:
    root = worked(tmp_path).root
    for name in ("one.zip", "two.zip"):
        assert run(["queue", "archive", str(root), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_queue_without_a_board_has_nothing_to_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = queue(tmp_path).root
    assert run(["queue", "archive", str(root), "-o", str(tmp_path / "a.zip")]) == 2
    assert "no board yet" in capsys.readouterr().err
    assert not (tmp_path / "a.zip").exists()
