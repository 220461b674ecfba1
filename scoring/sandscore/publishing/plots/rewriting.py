"""SVG as the plotting library writes it, to SVG as a page wants it."""

import re
from collections.abc import Iterator, Mapping
from xml.parsers import expat

from markupsafe import escape

_DECIMALS = re.compile(r"-?\d+\.\d+")
_DROPPED = frozenset({"metadata", "style"})
_SHAPES = frozenset({"path", "use", "rect", "text", "pattern", "clipPath"})
_KEPT = frozenset({"d", "x", "y", "width", "height", "patternUnits"})
_USUAL = frozenset(
    {("stroke-linejoin", "round"), ("stroke-linecap", "butt"), ("stroke-dashoffset", "0"), ("text-anchor", "start")}
)


class Rewriting:
    """One figure: its words by their keys, the beginning of its ids, and what its colours are called."""

    def __init__(self, words: Mapping[str, str], name: str, colours: Mapping[str, str]) -> None:
        self._words, self._name, self._colours = words, name, colours
        self._ids: dict[str, str] = {}
        self._parts: list[str] = []
        self._closing: list[str] = []
        self._unwanted = 0
        self._text: list[str] = []

    def of(self, svg: str) -> str:
        """The content of the outermost element."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.Parse(svg, True)
        return "".join(self._parts).replace("<defs></defs>", "")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._unwanted or tag in _DROPPED:
            self._unwanted += 1
            return
        self._text.clear()
        opening, closing = "", ""
        if tag == "a":
            hint = escape(self._words[attributes["xlink:href"]])
            opening, closing = f"<g><title>{hint}</title>", "</g>"
        elif tag == "defs" or tag in _SHAPES:
            opening, closing = f"<{tag}{''.join(self._plain(attributes))}>", f"</{tag}>"
        self._parts.append(opening)
        self._closing.append(closing)

    def _end(self, tag: str) -> None:
        if self._unwanted:
            self._unwanted -= 1
            return
        if tag == "text":
            said = "".join(self._text)
            self._parts.append(escape(self._words.get(said, said)))
        self._parts.append(self._closing.pop())

    def _plain(self, attributes: Mapping[str, str]) -> Iterator[str]:
        for name, value in attributes.items():
            if name == "style":
                yield from self._styled(value)
            elif name == "id":
                yield f' id="{self._id(value)}"'
            elif name == "xlink:href":
                yield f' href="#{self._id(value[1:])}"'
            elif name in _KEPT:
                yield f' {name}="{_rounded(value)}"'
            elif name in ("fill", "stroke"):
                yield f' {name}="{self._colours.get(value, value)}"'

    def _styled(self, style: str) -> Iterator[str]:
        for declaration in style.split("; "):
            name, _, value = declaration.partition(": ")
            if value.startswith("url("):
                value = f"url(#{self._id(value[5:-1])})"
            elif name in ("fill", "stroke"):
                value = self._colours.get(value, value)
            elif name == "font-size":
                value = value.removesuffix("px")
            if name != "font-family" and (name, value) not in _USUAL:
                yield f' {name}="{_rounded(value)}"'

    def _id(self, given: str) -> str:
        return self._ids.setdefault(given, f"{self._name}-{len(self._ids)}")


def _rounded(value: str) -> str:
    """Numbers to hundredths of a pixel, where no machine differs from another."""
    return _DECIMALS.sub(_hundredths, value.replace("\n", " ").strip())


def _hundredths(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2) + 0:g}"
