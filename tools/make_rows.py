"""``python -m tools.make_rows``: every row of our own, found in its package, into own_rows.py and pyproject.toml.

Rows keep their order; new ones come last. Only what stands between the two markers of pyproject.toml is written.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandscore.base.registry import Registry, TableRow
from sandscore.containers.engines.engine_registry import ENGINES
from sandscore.formats import FORMATS
from sandscore.measures.measure_registry import MEASURES
from sandscore.perturbation import PERTURBATIONS
from sandscore.profiles.profile_registry import PROFILES
from sandscore.queue.homes.home_registry import HOMES

ROOT = Path(__file__).resolve().parents[1]
MODULE = ROOT / "scoring" / "sandscore" / "base" / "own_rows.py"
PROJECT = ROOT / "pyproject.toml"
BEGIN, END = "# rows: written by python -m tools.make_rows\n", "# end of rows\n"
KINDS: tuple[Registry[Any], ...] = (MEASURES, FORMATS, PROFILES, ENGINES, HOMES, PERTURBATIONS)


def found_in(package: str, base: type[TableRow]) -> dict[str, str]:
    """The rows of a package: classes that give themselves a name."""
    rows: dict[str, str] = {}
    for module in modules_in(package):
        for name, row in vars(importlib.import_module(module)).items():
            if isinstance(row, type) and issubclass(row, base) and row.__module__ == module and "name" in vars(row):
                rows[vars(row)["name"]] = f"{module}:{name}"
    return rows


def modules_in(package: str) -> Iterator[str]:
    folder = importlib.import_module(package).__path__
    yield from sorted(module.name for module in pkgutil.walk_packages(folder, f"{package}."))


def rows_of(registry: Registry[Any]) -> dict[str, str]:
    """A table as it should be, in the order that it has: of the package of the class that rows extend, and of the rooms
    that rows of it live in already."""
    own = registry.base.__module__.rpartition(".")[0]
    others = {".".join(target.split(".")[:2]) for target in registry.targets.values() if not target.startswith(own)}
    found = {name: target for room in (own, *sorted(others)) for name, target in found_in(room, registry.base).items()}
    return {name: found[name] for name in (*(n for n in registry.targets if n in found), *found)}


def module_text() -> str:
    lines = []
    for registry in KINDS:
        lines.append(f'    "{registry.group}": {{')
        lines += [f'        "{name}": "{target}",' for name, target in rows_of(registry).items()]
        lines.append("    },")
    head = MODULE.read_text(encoding="utf-8").partition("OWN_ROWS")[0]
    return "\n".join([f"{head}OWN_ROWS = {{", *lines, "}", ""])


def project_text() -> str:
    text = PROJECT.read_text(encoding="utf-8")
    sections = []
    for registry in KINDS:
        rows = "".join(f'{name} = "{target}"\n' for name, target in rows_of(registry).items())
        sections.append(f'[project.entry-points."{registry.group}"]\n{rows}')
    between = re.compile(f"(?<={re.escape(BEGIN)}).*?(?={re.escape(END)})", re.DOTALL)
    return between.sub(lambda _: "\n".join(sections), text)


def main() -> None:
    for path, text in ((MODULE, module_text()), (PROJECT, project_text())):
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
