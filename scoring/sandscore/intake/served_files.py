"""The files that everybody may see: those of ``public/``, and nothing that a path can reach beside them."""

import mimetypes
import stat
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from sandscore.intake.problem_details import Refusal
from sandscore.queue.queue_layout import PUBLIC, half

_INDEX, _START, _TEAM = "index.html", "/site/", "/team"
_PLAIN = "text/plain; charset=utf-8"


class PublicFiles:
    """Of one queue. No link is followed, no folder is listed, and what begins with a dot is not there."""

    def __init__(self, root: Path) -> None:
        self._folder = half(root, PUBLIC)

    async def answer(self, request: Request) -> Response:
        path: str = request.scope["path"]
        if request.method not in ("GET", "HEAD"):
            raise Refusal("not_allowed", "files are only read", allow="GET, HEAD")
        if path == "/":
            there = (self._folder / "site" / _INDEX).is_file()
            return RedirectResponse(_START if there else _TEAM, 302)
        found = self._find(path)
        if found is None:
            raise Refusal("not_found", "there is no such page")
        if found.is_dir():
            if not path.endswith("/"):
                return RedirectResponse(f"./{quote(found.name)}/", 302)
            found = found / _INDEX
            if not _regular(found):
                raise Refusal("not_found", "there is no such page")
        return FileResponse(found, media_type=mimetypes.guess_type(found.name)[0] or _PLAIN)

    def _find(self, path: str) -> Path | None:
        """Name by name from the top, each of them a folder or a file itself."""
        names = [name for name in path.split("/") if name]
        if any(name.startswith(".") or not name.isprintable() or "\\" in name for name in names):
            return None
        place = self._folder
        for name in names:
            place = place / name
            try:
                kind = place.lstat().st_mode
            except (OSError, ValueError):
                return None
            if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
                return None
        return None if path.endswith("/") and not place.is_dir() else place


def _regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
