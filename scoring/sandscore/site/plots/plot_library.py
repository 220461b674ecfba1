"""Matplotlib, brought in when the first plot is drawn, and always as it comes.

Neither a configuration of the user's nor the fonts of the machine reach a plot, and nothing is written to anybody's
home: the same numbers are the same bytes everywhere.
"""

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sandscore.base.errors import InfrastructureFault

_OURS: Mapping[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "path.simplify": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "sandscore",
    "text.parse_math": False,
}
_NOT_DRAWN = ("backend", "date.epoch", "interactive")


@contextmanager
def as_it_comes() -> Iterator[None]:
    """Inside, figures are made and drawn under the library's own settings but for ours."""
    wanted = _settings()
    import matplotlib

    current: Any = matplotlib.rcParams
    if current["svg.hashsalt"] == wanted["svg.hashsalt"]:  # nobody but us has this one: we are inside already
        yield
        return
    changed: Any = {name: value for name, value in wanted.items() if current[name] != value}
    with matplotlib.rc_context(changed):
        yield


@cache
def _settings() -> Mapping[str, Any]:
    if "matplotlib" not in sys.modules:
        _bring_in()
    import matplotlib

    defaults: Any = matplotlib.rcParamsDefault
    return {name: defaults[name] for name in defaults if not name.startswith(_NOT_DRAWN)} | dict(_OURS)


def _bring_in() -> None:
    """It lists its fonts in a folder that goes again; of files it stumbles over on the way nobody need hear."""
    try:
        folder = TemporaryDirectory(prefix="sandscore-")
    except OSError as fault:
        raise InfrastructureFault(f"there is no folder for temporary files to draw plots with: {fault}") from None
    log = logging.getLogger("matplotlib")
    level = log.level
    with folder as name, _environment(name):
        log.setLevel(logging.CRITICAL)
        try:
            _list_fonts(name)
            for module in ("matplotlib.figure", "matplotlib.backends.backend_svg"):
                import_module(module)
        finally:
            log.setLevel(level)


def _list_fonts(empty: str) -> None:
    """Those it ships with, without PostScript's, which take most of the time and wait until somebody asks for them."""
    import matplotlib

    found, matplotlib.get_data_path = matplotlib.get_data_path, lambda: empty
    try:
        fonts: Any = import_module("matplotlib.font_manager")
    finally:
        matplotlib.get_data_path = found
    for path in sorted(Path(found(), "fonts", "ttf").glob("*.ttf")):
        fonts.fontManager.addfont(path)
    fonts.fontManager.afmlist = _PostScriptFonts(fonts.fontManager, Path(found(), "fonts"))


class _PostScriptFonts(list[Any]):
    """Those in a folder, read when the list is gone through for the first time."""

    def __init__(self, manager: Any, folder: Path) -> None:
        super().__init__()
        self._manager, self._unread = manager, [folder]

    def __iter__(self) -> Iterator[Any]:
        while self._unread:
            for path in sorted(self._unread.pop().glob("*/*.afm")):
                self._manager.addfont(path)  # which appends it here
        return super().__iter__()


@contextmanager
def _environment(folder: str) -> Iterator[None]:
    ours = {"MPLCONFIGDIR": folder, "MATPLOTLIBRC": folder, "MPL_IGNORE_SYSTEM_FONTS": "1"}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
