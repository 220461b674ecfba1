"""The records of a room that can be changed once they are made: all others are values."""

import importlib
import pkgutil

import msgspec


def changeable(room: str) -> set[str]:
    """The names of all msgspec records of a package of sandscore that are not frozen; ``kernel.so`` is no module."""
    package = importlib.import_module(f"sandscore.{room}")
    names = [found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith(".kernel.kernel")]
    return {
        name
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__module__ == module.__name__
        if not kind.__struct_config__.frozen
    }
