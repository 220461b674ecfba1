"""Templates to pages: everything a page needs stands in it, and its policy forbids all else."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from sandscore import __version__
from sandscore.site.page_text import FILTERS

TEMPLATES = Path(__file__).resolve().parent / "templates"


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
    style = (TEMPLATES / "site.css").read_text(encoding="utf-8")
    script = (TEMPLATES / "site.js").read_text(encoding="utf-8")
    return {"version": __version__, "style": style, "script": script, "policy": policy(style, script)}


def policy(style: str, script: str) -> str:
    """Our style and our script by their hashes and nothing else: it holds for file:// and in any frame."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
