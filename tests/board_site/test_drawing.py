"""A figure as it stands in a page: nothing a page forbids, words as words, the same bytes for anybody anywhere."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from board_samples import HOSTILE, Sample, write_board
from hypothesis import given
from hypothesis import strategies as st

from sandscore.site.page_templates import TEMPLATES
from sandscore.site.plots.canvas import SMALL, Canvas, fitted
from sandscore.site.plots.palette import INK, VARIABLES
from sandscore.site.plots.svg import document, plot
from sandscore.site.publication import publish

NAMES = [
    pytest.param(HOSTILE, id="markup"),
    pytest.param(r"$\frac{a}{b}$", id="mathematics"),
    pytest.param("$x", id="half of mathematics"),
    pytest.param(r"a\nb\\$", id="backslashes"),
    pytest.param("one\ntwo\x00", id="control characters"),
    pytest.param("日本語の名前", id="letters the font lacks"),
    pytest.param("مرحبا שלום", id="right to left"),
    pytest.param("e\u0301" * 30, id="combining marks"),
    pytest.param("👩\u200d🔬 lab", id="emoji"),
    pytest.param("word 0", id="a name like a key"),
    pytest.param("\ud800", id="lone surrogate"),
    pytest.param("x" * 5000, id="very long"),
    pytest.param("", id="nothing"),
]


def drawn(name: str) -> str:
    def draw(_: object) -> Canvas:
        canvas = Canvas(200, 40)
        canvas.name(0, 20, name, 150)
        return canvas

    return plot(draw, "example", "An example", SMALL).markup


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text_and_nothing_else(name: str) -> None:
    made = drawn(name)
    (said,) = re.findall(r"<text[^>]*>([^<]*)</text>", made)
    assert not set(said) & set("<>\"'\n\x00\u202e\u200b\u200d")
    assert re.sub(r"</?(?:svg|g|title|text)\b[^<>]*>", "", made).count("<") == 0


@given(st.text(), st.floats(20, 400))
def test_any_text_is_cut_to_its_room(words: str, room: float) -> None:
    cut = fitted(words, room)
    assert fitted(cut, room) == cut or not room


def test_a_name_cut_short_is_told_in_full_to_who_points_at_it() -> None:
    made = drawn("a name much longer than there is room for")
    assert "<title>a name much longer than there is room for</title>" in made
    assert re.search(r">a name much [a-z ]*…</text>", made)
    assert "<title>" not in drawn("short")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of a board with every drawing on it."""
    folder = tmp_path_factory.mktemp("drawn")
    entrants = [Sample(f"s{i}", 0.9 - 0.1 * i, "t", f"2026-01-{i + 1:02}") for i in range(6)]
    publish([write_board(folder / "board", entrants)], folder / "site")
    found = {path.name: path.read_text(encoding="utf-8") for path in (folder / "site" / "address").glob("*.html")}
    assert len(found) == 7
    return found


def plots(pages: dict[str, str]) -> Iterator[str]:
    for page in pages.values():
        yield from re.findall(r'<svg class="plot.*?</svg>', page, re.DOTALL)


def test_every_drawing_is_there_in_its_forms(pages: dict[str, str]) -> None:
    forms = re.findall(r'<svg class="plot (\w+)" width="(\d+)"', pages["index.html"])
    assert forms == [("wide", "736"), ("narrow", "343")] * 4
    assert re.findall(r'<svg class="plot (\w+)" width="(\d+)"', pages["s0.html"]) == [("small", "343")] * 2


def test_nothing_in_a_drawing_that_a_page_forbids(pages: dict[str, str]) -> None:
    found = list(plots(pages))
    assert len(found) == 8 + 6 * 2
    for drawing in found:
        assert re.match(r'<svg class="plot \w+" width="\d+" height="[\d.]+" viewBox="[\d. ]+" role="img" aria', drawing)
        assert not re.search(r"style|xlink|http|#[0-9a-f]{6}|font-family|<a\b|<image|metadata", drawing)
        assert {*re.findall(r'fill="([^"]+)"', drawing)} <= {"none", *(f"var(--{name})" for name in VARIABLES.values())}


def test_ids_are_one_of_a_kind_and_all_references_lead_to_them(pages: dict[str, str]) -> None:
    for page in pages.values():
        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len({*ids})
        drawings = "".join(re.findall(r'<svg class="plot.*?</svg>', page, re.DOTALL))
        assert {*re.findall(r'href="#([^"]+)"', drawings), *re.findall(r"url\(#([^)]+)\)", drawings)} <= {*ids}


def test_colours_are_those_of_the_style_sheet_by_day() -> None:
    style = (TEMPLATES / "site.css").read_text(encoding="utf-8")
    day = dict(re.findall(r"--([\w-]+):light-dark\((#[0-9a-f]+)", style))
    long = {
        name: colour if len(colour) == 7 else "#" + "".join(2 * c for c in colour[1:]) for name, colour in day.items()
    }
    assert {colour: name for name, colour in long.items() if name in VARIABLES.values()} == VARIABLES


def test_marks_stand_out_from_paper() -> None:
    """WCAG 1.4.11 asks 3:1 of what must be seen to understand; bars of errors carry their names and numbers."""
    assert {name for colour, name in VARIABLES.items() if contrast(colour) >= 3} >= {
        "ink",
        "soft",
        "dot",
        "span",
        "win",
    }


def contrast(colour: str) -> float:
    """Against white, as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


PROGRAM = """
import sys
from pathlib import Path
from sandscore.site.publication import publish
publish([Path(sys.argv[1])], Path(sys.argv[2]))
"""


def test_neither_home_nor_configuration_nor_fonts_matter(tmp_path: Path) -> None:
    """The library reads a configuration from the working directory, from home and from where a variable says."""
    board = write_board(
        tmp_path / "board", [Sample(f"s{i}", 0.9 - 0.2 * i, "t", f"2026-01-{i + 1:02}") for i in range(3)]
    )
    publish([board], tmp_path / "here")
    (tmp_path / "matplotlibrc").write_text("font.size: 40\nlines.linewidth: 9\nsvg.fonttype: path\nno.such.key: 1\n")
    ours = {
        "HOME": "/proc/nowhere",
        "XDG_CONFIG_HOME": "/proc/nowhere",
        "MPLCONFIGDIR": str(tmp_path),
        "TZ": "Asia/Tokyo",
    }
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, board, tmp_path / "there"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, **ours, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    for path in (tmp_path / "here").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "there" / path.relative_to(tmp_path / "here")).read_bytes()


def test_who_draws_after_us_finds_the_fonts_that_the_library_ships_with(tmp_path: Path) -> None:
    program = """
import os
os.environ["MPL_IGNORE_SYSTEM_FONTS"] = "1"
from sandscore.site.plots.plot_library import as_it_comes
with as_it_comes():
    pass
from matplotlib.font_manager import FontManager, fontManager, findfont
assert not len(fontManager.afmlist)
assert findfont("Courier", fontext="afm").endswith(".afm")
fresh, named = FontManager(), lambda font: (font.fname, font.name, str(font.weight))
for fonts in ("ttflist", "afmlist"):
    assert sorted(getattr(fontManager, fonts), key=named) == sorted(getattr(fresh, fonts), key=named) != []
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={**os.environ, "MPLCONFIGDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


def test_settings_of_who_plots_beside_us_are_left_alone(tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"font.size": 40, "svg.fonttype": "path"}):
        loud = drawn("$a name$")
        assert matplotlib.rcParams["font.size"] == 40
    assert loud == drawn("$a name$")
    assert dict(matplotlib.rcParams) == before


def test_a_file_of_its_own_is_in_the_colours_of_the_day() -> None:
    def draw() -> Canvas:
        canvas = Canvas(100, 20)
        canvas.write(0, 10, "a < b")
        return canvas

    made = document(draw, 'said "so"')
    assert made.startswith('<svg xmlns="http://www.w3.org/2000/svg" ')
    assert f'fill="{INK}"' in made
    assert ">a &lt; b</text>" in made
    assert 'aria-label="said &#34;so&#34;"' in made


def test_without_a_place_for_temporary_files_the_machine_is_at_fault(tmp_path: Path) -> None:
    board = write_board(tmp_path / "board", [Sample("a", 0.9), Sample("b", 0.7)])
    program = (
        "import sys, tempfile; tempfile.tempdir = '/proc/nowhere'; "
        "from sandscore.cli.main import run; sys.exit(run(['publish', *sys.argv[1:]]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, board, "-o", tmp_path / "site"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert ran.returncode == 75
    assert "no folder for temporary files" in ran.stderr
    assert "Traceback" not in ran.stderr
