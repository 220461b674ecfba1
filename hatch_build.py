"""Compiles the kernel: the C files of sandscore.kernel, into one library that ctypes loads.

    python hatch_build.py    # in place, in a checkout

hatchling calls the hook for every wheel. Without a C compiler the wheel is pure: the same results, only slower.
CC names another compiler than cc, CFLAGS adds to its options. SANDSCORE_PLATFORM is what wheels call the machine that a
cross compiler compiles for; ``tools/make_wheels.py`` sets all three.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilderConfig
from packaging.tags import sys_tags

NATIVE = Path(__file__).resolve().parent / "scoring/sandscore/kernel"
LIBRARY = "kernel.so"
OPTIONS = [
    *("-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra"),
    *("-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"),
    f"-ffile-prefix-map={NATIVE}=.",
]
STAMP = """extern const unsigned sources __attribute__((visibility("default")));
const unsigned sources = {}u;
"""
LINKING = {"linux": ["-Wl,-z,defs,-z,relro,-z,now"], "darwin": [f"-Wl,-install_name,{LIBRARY}"]}


def compile_kernel(folder: str) -> Path | None:
    """The library, made in the folder; None where it cannot be, and why on standard error."""
    sources = sorted(map(str, NATIVE.glob("*.c")))
    if not sources:
        return None
    stamp = Path(folder, "stamp.c")
    stamp.write_text(STAMP.format(crc32(b"".join(map(Path.read_bytes, sorted(NATIVE.glob("*.[ch]")))))))
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    options = [*OPTIONS, *LINKING.get(system(), []), *shlex.split(os.environ.get("CFLAGS", ""))]
    try:
        subprocess.run([*compiler, *options, "-o", LIBRARY, *sources, stamp.name], cwd=folder, check=True)
    except (OSError, subprocess.CalledProcessError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "failed"
        print(f"sandscore: no compiled kernel ({compiler[0]}: {why}); only speed is lost", file=sys.stderr)
        return None
    return Path(folder, LIBRARY)


def compile_in_place() -> bool:
    """One step replaces a library that may be in use; none is left that is older than its sources."""
    with TemporaryDirectory(dir=NATIVE.parent, prefix=".kernel-") as folder:
        library = compile_kernel(folder)
        if library:
            library.replace(NATIVE / LIBRARY)
        else:
            (NATIVE / LIBRARY).unlink(missing_ok=True)
    return library is not None


def system() -> str:
    """What the library is for, as ``sys.platform`` names it."""
    systems = {"macosx": "darwin", "win": "win32", "manylinux": "linux", "musllinux": "linux"}
    named = os.environ.get("SANDSCORE_PLATFORM", "").partition("_")[0]
    return systems.get(named, sys.platform)


def platform() -> str:
    """This machine's, as wheels name it; manylinux is a promise about other machines, which ``make wheels`` checks."""
    if named := os.environ.get("SANDSCORE_PLATFORM"):
        return named
    platforms = (tag.platform for tag in sys_tags())
    return next(name for name in platforms if not name.startswith(("manylinux", "musllinux")))


class KernelHook(BuildHookInterface[WheelBuilderConfig]):
    """Puts the library into a wheel, and names the platform it is for; an editable one gets it in place."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            if os.access(NATIVE.parent, os.W_OK):
                compile_in_place()
            return
        self.folder = TemporaryDirectory()
        if library := compile_kernel(self.folder.name):
            build_data["force_include"][str(library)] = f"sandscore/kernel/{LIBRARY}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()


if __name__ == "__main__":
    sys.exit(not compile_in_place())
