"""Other people's file formats: one module each, all reading into and writing from one ``Corpus``; a row each here."""

from typing import TYPE_CHECKING

from sandscore.base.own_rows import OWN_ROWS
from sandscore.base.registry import Registry

if TYPE_CHECKING:
    from sandscore.formats.file_format import FileFormat

GROUP = "sandscore.formats"
FORMATS: "Registry[FileFormat]" = Registry("format", GROUP, "sandscore.formats.file_format:FileFormat", OWN_ROWS[GROUP])
