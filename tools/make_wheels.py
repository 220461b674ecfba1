"""Wheels for every platform from this machine, their kernels compiled by ziglang's C compiler and looked at.

    python tools/make_wheels.py [OUT] [--only WORD]

ziglang comes from PyPI, by its hash, into ``.cache/zig``. Wheels are the same bytes wherever and whenever they are made
(SOURCE_DATE_EPOCH is that of the last commit unless it is set). Each library is looked at: its machine, its exported
functions, and that it asks for nothing that its platform does not promise; exits 1 where one does not keep its tag.
"""

import argparse
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.library_facts import LibraryFacts, facts_of  # noqa: E402 (run as a script)

ZIG = ROOT / ".cache" / "zig"
VERSION = "0.17.0"
KERNEL = "sandscore/kernel/kernel.so"
SOURCES = (ROOT / "scoring" / KERNEL).parent
CFLAGS = "-fno-sanitize=undefined -s"
"""zig looks for undefined behaviour by itself, as ``make fuzz`` does; a release need not."""


class Platform(Struct, frozen=True):
    """Where a wheel runs: zig's target, the wheel's tag, and the libraries that are there without being asked for."""

    target: str
    tag: str
    machine: str
    libraries: tuple[str, ...]
    least: str | None = None


_GLIBC, _MUSL, _MAC = ("libc.so.6", "libm.so.6"), ("libc.so",), ("/usr/lib/libSystem.B.dylib",)
_WINDOWS = ("KERNEL32.dll", "api-ms-win-crt-*")
PLATFORMS = (
    Platform("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64", "x86_64", _GLIBC, "2.17"),
    Platform("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64", "aarch64", _GLIBC, "2.17"),
    Platform("x86_64-linux-musl", "musllinux_1_1_x86_64", "x86_64", _MUSL),
    Platform("aarch64-linux-musl", "musllinux_1_1_aarch64", "aarch64", _MUSL),
    Platform("x86_64-macos.11.0", "macosx_11_0_x86_64", "x86_64", _MAC, "11.0"),
    Platform("aarch64-macos.11.0", "macosx_11_0_arm64", "arm64", _MAC, "11.0"),
    Platform("x86_64-windows-gnu", "win_amd64", "amd64", _WINDOWS),
)
_SYSTEMS = {"manylinux": "linux", "musllinux": "linux", "macosx": "macos", "win": "windows"}


def zig() -> list[str]:
    """The words of a command that is ziglang's compiler, installed first where it is not there."""
    python = ZIG / "bin" / "python"
    if not python.exists() or not (ZIG / f"made-{VERSION}").exists():
        print("wheels: installing ziglang (a C compiler for every platform) into .cache/zig", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(ZIG)], check=True)
        wanted = ["--require-hashes", "--no-deps", "--requirement", str(ROOT / "tools" / "zig.txt")]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
        (ZIG / f"made-{VERSION}").touch()
    return [str(python), "-m", "ziglang", "cc"]


def make(platform: Platform, out: Path) -> Path:
    """The platform's wheel."""
    out.mkdir(parents=True, exist_ok=True)
    before = {*out.glob("*.whl")}
    variables = {
        "CC": shlex.join([*zig(), "-target", platform.target]),
        "CFLAGS": CFLAGS,
        "SANDSCORE_PLATFORM": platform.tag,
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or last_commit(),
        "ZIG_GLOBAL_CACHE_DIR": str(ROOT / ".cache" / "zig-cache"),
    }
    for old in out.glob(f"*-{platform.tag}.whl"):
        old.unlink()
        before.discard(old)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | variables)
    made = {*out.glob("*.whl")} - before
    if done.returncode or len(made) != 1 or platform.tag not in next(iter(made)).name:
        raise SystemExit(f"wheels: no wheel for {platform.tag}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return made.pop()


def last_commit() -> str:
    """When it was made; where there is no git, the first moment that a zip file can hold."""
    asked = subprocess.run(["git", "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False, cwd=ROOT)
    return asked.stdout.strip() or "315532800"


def library_in(wheel: Path) -> LibraryFacts:
    with zipfile.ZipFile(wheel) as archive:
        return facts_of(archive.read(KERNEL))


def broken_promises(platform: Platform, facts: LibraryFacts, functions: frozenset[str]) -> list[str]:
    """What of a library does not fit the platform's tag."""
    system = _SYSTEMS[platform.tag.partition("_")[0]]
    found = []
    if (facts.system, facts.machine) != (system, platform.machine):
        found.append(f"it is for {facts.system} on {facts.machine}")
    if lacking := functions - facts.exported:
        found.append(f"it does not have {', '.join(sorted(lacking))}")
    promised = tuple(one.rstrip("*") for one in platform.libraries)
    if others := [one for one in facts.libraries if not one.startswith(promised)]:
        found.append(f"it asks for {', '.join(sorted(others))}")
    if facts.least and platform.least and _version(facts.least) > _version(platform.least):
        found.append(f"it asks for {facts.least}")
    return found


def _version(written: str) -> list[int]:
    return [int(part) for part in written.split(".")]


def functions_called() -> frozenset[str]:
    """What Python calls in a kernel, or reads of it."""
    from sandscore.kernel.kernel_library import _FUNCTIONS

    return frozenset({*_FUNCTIONS, "layout", "layout_names", "sources"})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", default=ROOT / "dist")
    parser.add_argument("--only", default="", metavar="WORD", help="what the tag must hold")
    options = parser.parse_args()
    broken = False
    for platform in PLATFORMS:
        if options.only in platform.tag:
            wheel = make(platform, options.out)
            facts = library_in(wheel)
            said = broken_promises(platform, facts, functions_called())
            facts_told = (
                f"{facts.system} {facts.machine} {facts.least or ''}; needs {', '.join(sorted(facts.libraries))}"
            )
            print(f"{wheel.name}: {'; '.join(said) or 'keeps its tag'}: {facts_told}", flush=True)
            broken |= bool(said)
    return int(broken)


if __name__ == "__main__":
    raise SystemExit(main())
