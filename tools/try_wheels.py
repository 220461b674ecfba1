"""The Linux wheels tried from nothing: each where nothing but a Python, or a C library, is there.

    python tools/try_wheels.py [DIST]

manylinux on x86_64: a fresh environment, the wheel and what it asks for from PyPI. manylinux on aarch64: Debian's
Python for arm64 by debootstrap, under qemu-user. musllinux: no musl Python can be had here, so a harness in C feeds the
kernels under Debian's musl loader all cases and examples, and must print what it prints with the glibc kernel. Scores
must be those of this checkout, to the byte. The wheels of macOS and Windows are not tried: ``make_wheels.py`` looks at
what is in them.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.make_wheels import KERNEL, SOURCES, ZIG, zig  # noqa: E402 (run as a script)

CACHE = ROOT / ".cache" / "wheels"
MIRROR = "http://deb.debian.org/debian"
SCORING = """
import sys
from sandscore.base import bundled_content as content
from sandscore.cli.main import run
from sandscore.kernel.kernel_library import kernel
assert kernel() is not None, "the wheel's kernel cannot be loaded"
gold = content.example_gold()
for given in sorted(content.submissions().glob("*/predictions.json")):
    task = given.parent.name.rpartition("-")[0]
    words = ["score", task, "--gold", gold / f"{task}.json", "--notes", gold / "notes.json", "--no-intervals"]
    assert run([*map(str, words), "--predictions", str(given), "-o", f"{sys.argv[1]}/{given.parent.name}.json"]) == 0
"""
NO_NAME = "-"


def cards(command: list[str], folder: Path, **variables: str) -> dict[str, bytes]:
    """Score cards of the bundled submissions, by the Python of this command."""
    folder.mkdir(parents=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | variables
    done = subprocess.run(
        [*command, "-c", SCORING, str(folder)], capture_output=True, text=True, check=False, cwd=folder, env=clean
    )
    if done.returncode:
        raise SystemExit(f"wheels: {command[0]}: {done.stdout[-500:]}{done.stderr[-2000:]}")
    return {path.name: path.read_bytes() for path in folder.glob("*.json")}


def wheel_of(dist: Path, word: str) -> Path:
    found = sorted(dist.glob(f"*{word}*.whl"))
    if len(found) != 1:
        raise SystemExit(f"wheels: {len(found)} wheels of {word} in {dist}; make_wheels.py makes them")
    return found[0]


def try_x86_64(wheel: Path, folder: Path) -> dict[str, bytes]:
    """A fresh environment without a compiler's name in it."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "fresh")], check=True)
    python = folder / "fresh" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", str(wheel)], check=True)
    return cards([str(python)], folder / "x86_64")


def try_aarch64(wheel: Path, folder: Path) -> dict[str, bytes]:
    """Debian's Python for arm64, libraries of PyPI for it, all under qemu's user mode."""
    root, emulator = arm_root(), unpacked("qemu-user-static") / "usr/bin/qemu-aarch64-static"
    wanted = [
        "--platform=manylinux_2_28_aarch64",
        "--platform=manylinux_2_17_aarch64",
        "--platform=manylinux2014_aarch64",
    ]
    got = CACHE / "aarch64-libraries"
    asked = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--only-binary=:all:",
        "--python-version=3.11",
        *wanted,
    ]
    subprocess.run([*asked, f"--dest={got}", str(wheel)], check=True)
    for one in [*(other for other in got.glob("*.whl") if not other.name.startswith("sandscore-")), wheel]:
        with zipfile.ZipFile(one) as archive:
            archive.extractall(folder / "site")
    command = [str(emulator), "-L", str(root), str(root / "usr/bin/python3.11")]
    return cards(command, folder / "aarch64", PYTHONPATH=str(folder / "site"), OPENBLAS_NUM_THREADS="1")


def arm_root() -> Path:
    """Debian for arm64 with its Python, unpacked and not configured: nothing of it is started but Python."""
    root = CACHE / "arm64"
    if not (root / "usr/bin/python3.11").exists():
        shutil.rmtree(root, ignore_errors=True)
        command = [
            "debootstrap",
            "--foreign",
            "--arch=arm64",
            "--variant=minbase",
            "--include=python3,musl",
            "bookworm",
        ]
        subprocess.run([*command, str(root), MIRROR], check=True, stdout=subprocess.DEVNULL)
        for package in (root / "var/cache/apt/archives").glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(package), str(root)], check=True)
    return root


def unpacked(package: str) -> Path:
    """A package of Debian's, unpacked and not installed."""
    folder = CACHE / package
    if not folder.exists():
        with TemporaryDirectory(dir=CACHE) as made:
            subprocess.run(["apt-get", "download", "-qq", package], check=True, cwd=made)
            subprocess.run(["dpkg", "-x", str(next(Path(made).glob("*.deb"))), str(folder)], check=True)
    return folder


def jobs() -> bytes:
    """Every case and every example as the harness takes it: the notes first, then what is said of them."""
    from sandscore.kernel.block_readers import written_form
    from sandscore.task_table.task import TASKS

    told = bytearray()

    def job(kind: str, path: Path, required: int = 0, names: tuple[str, ...] = (NO_NAME,) * 7) -> None:
        data = path.read_bytes()
        told.extend(f"{kind} {int(path.suffix == '.jsonl')} {len(data)} {required} {' '.join(names)}\n".encode() + data)

    known = {task.id: written_form(task, want_tokens=True) for task in TASKS.values()}
    named = {
        name: tuple(bytes(one).decode() or NO_NAME for one in (form.array, *form.names)) for name, form in known.items()
    }
    cases, example = ROOT / "tests" / "cases", ROOT / "gold" / "example"
    said = [(task, cases / "notes.json", cases / task) for task in TASKS]
    said += [(task, example / "notes.json", example) for task in TASKS]
    said += [
        (path.name.rpartition("-")[0], example / "notes.json", path)
        for path in sorted((ROOT / "submissions").glob("*-*"))
    ]
    for task, notes, folder in said:
        job("notes", notes)
        for path in sorted(path for path in folder.rglob("*") if path.suffix in {".json", ".jsonl"}):
            job("annotations", path, known[task].required, named[task])
    return bytes(told)


def harness(target: str, wheel: Path, folder: Path, loader: list[str], given: bytes) -> list[str]:
    """What the harness says of a wheel's kernel, compiled for the same C library."""
    place = folder / target
    place.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        (place / "kernel.so").write_bytes(archive.read(KERNEL))
    program = place / "harness"
    source = str(ROOT / "tools" / "kernel_harness.c")
    options = ["-target", target, "-dynamic", "-O1", "-fno-sanitize=undefined", f"-I{SOURCES}"]
    subprocess.run([*zig(), *options, "-o", str(program), source], check=True)
    done = subprocess.run(
        [*loader, str(program), str(place / "kernel.so")], input=given, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(
            f"wheels: the harness for {target} ended with {done.returncode}: {done.stderr.decode()[-500:]}"
        )
    return done.stdout.decode().splitlines()


def main() -> int:
    dist = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    CACHE.mkdir(parents=True, exist_ok=True)
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = str(ZIG.with_name("zig-cache"))
    broken = False
    with TemporaryDirectory() as made:
        folder = Path(made)
        expected = cards([sys.executable], folder / "here", PYTHONPATH=str(ROOT / "scoring"))
        for word, attempt in (("manylinux_2_17_x86_64", try_x86_64), ("manylinux_2_17_aarch64", try_aarch64)):
            same = attempt(wheel_of(dist, word), folder) == expected
            print(
                f"{word}: {len(expected)} score cards {'as here' if same else 'DIFFER from those made here'}",
                flush=True,
            )
            broken |= not same
        given = jobs()
        said = harness("x86_64-linux-gnu.2.17", wheel_of(dist, "manylinux_2_17_x86_64"), folder, [], given)
        taken = sum(line.split()[1] == "0" for line in said)
        emulator = str(unpacked("qemu-user-static") / "usr/bin/qemu-aarch64-static")
        loaders = {"x86_64": [], "aarch64": [emulator]}
        for machine, root in (("x86_64", unpacked("musl")), ("aarch64", arm_root())):
            loader = [*loaders[machine], str(root / f"lib/ld-musl-{machine}.so.1")]
            same = (
                harness(f"{machine}-linux-musl", wheel_of(dist, f"musllinux_1_1_{machine}"), folder, loader, given)
                == said
            )
            told = f"{len(said)} files, {taken} of them taken, {'as' if same else 'NOT as'} by the glibc kernel"
            print(f"musllinux_1_1_{machine}: {told}", flush=True)
            broken |= not same
    print(json.dumps({"tried": not broken}))
    return int(broken)


if __name__ == "__main__":
    raise SystemExit(main())
