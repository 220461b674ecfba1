"""Templates to pages: everything a page needs stands in it, and its policy forbids all else."""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from sandscore import __version__
from sandscore.site.page_text import FILTERS

TEMPLATES = Path(__file__).resolve().parent / "templates"
BOARD_SCRIPTS = ("draws", "standing", "verify", "pick")
"""What a board's page can do beside what every page can, in the order in which one needs the other."""

_COMMENTS, _LINE_BEGINNINGS = re.compile(r"/\*.*?\*/", re.DOTALL), re.compile(r"\n\s*")


def page(template: str, **values: Any) -> bytes:
    """The page as it is written to disk."""
    text = environment().get_template(template).render(values)
    return text.encode("utf-8", "replace")


@cache
def environment() -> jinja2.Environment:
    """Escapes everything that is not said to be markup, and stumbles over names that are not given."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(FILTERS)
    made.globals.update(_common())
    return made


def _common() -> Mapping[str, Any]:
    style, script = _lean("site.css") + _lean("reader/reader.css"), _lean("site.js")
    board_script = "\n".join(_lean(f"reader/{name}.js") for name in BOARD_SCRIPTS)
    scripts = {"script": script, "board_script": board_script, "recompute_script": _lean("reader/recompute.js")}
    return {"version": __version__, "style": style, "policy": policy(style, *scripts.values()), **scripts}


def _text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _lean(name: str) -> str:
    """A style or a script as it is sent: without comments and indentation, of which a page has no use."""
    return _LINE_BEGINNINGS.sub("\n", _COMMENTS.sub("", _text(name)))


def policy(style: str, *scripts: str) -> str:
    """Our style and our scripts by their hashes and nothing else: it holds for file:// and in any frame."""
    allowed = " ".join(f"'{_hash(script)}'" for script in scripts)
    return f"default-src 'none'; style-src '{_hash(style)}'; script-src {allowed}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
