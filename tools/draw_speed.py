"""Draw docs/speed.svg and the tables of docs/speed.md from what benchmarks/everything.py --json wrote.

python tools/draw_speed.py speed.json|-
"""

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandscore.base.whole_files import write_file
from sandscore.site.plots import palette
from sandscore.site.plots.canvas import Canvas
from sandscore.site.plots.svg import document

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOCS = Path(__file__).resolve().parents[1] / "docs"
WIDTH, HEIGHT, LEFT, TOP = 640, 360, 70, 14
RIGHT, BOTTOM = WIDTH - 150, HEIGHT - 50
LINES = {
    "orjson": ("orjson.loads", palette.SOFT, (0, (4, 2))),
    "msgspec": ("msgspec, typed", palette.SOFT, (0, (1, 1.5))),
    "api": ("validate + score", palette.DOT, "-"),
    "cli": ("sandscore score", palette.KINDS["missed"], "-"),
    "warm": ("with a gold index", palette.KINDS["boundary"], "-"),
    "simdjson": ("simdjson, all three", palette.SOFT, (0, (6, 1.5, 1, 1.5))),
    "scan": ("every byte once", palette.SOFT, (0, (1, 4))),
}
MARKS = "<!-- measured -->", "<!-- end -->"


def drawn(results: list[dict[str, Any]]) -> Canvas:
    """CPU time against size on logarithmic scales, every line called by its name where it ends."""
    canvas = Canvas(WIDTH, HEIGHT)
    axes = canvas.axes(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
    sizes = [row["notes"] for row in results]
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.yaxis.set_major_formatter(lambda seconds, _: f"{seconds:g} s")
    axes.minorticks_off()
    axes.grid(True, axis="y", color=palette.RULE, clip_on=False)
    for work, (_, colour, dashes) in LINES.items():
        times = [row["medians"][work]["cpu"] for row in results]
        axes.plot(sizes, times, color=colour, linewidth=2, linestyle=dashes, clip_on=False)
    powers = [math.log10(row["medians"][work]["cpu"]) for row in results for work in LINES]
    axes.set(xlim=(sizes[0], sizes[-1]), ylim=(10 ** math.floor(min(powers)), 10 ** math.ceil(max(powers))))
    for work, height in apart({work: last(axes, results, work) for work in LINES}).items():
        canvas.write(RIGHT + 8, height, LINES[work][0], color=LINES[work][1])
    canvas.write((LEFT + RIGHT) / 2, HEIGHT - 12, "notes, 20 annotations each", ha="center", color=palette.SOFT)
    return canvas


def last(axes: "Axes", results: list[dict[str, Any]], work: str) -> float:
    """How far below the upper edge the line of this work ends."""
    row = results[-1]
    return HEIGHT - float(axes.transData.transform((row["notes"], row["medians"][work]["cpu"]))[1])


def apart(heights: dict[str, float]) -> dict[str, float]:
    """The same heights, no two closer than a line of text."""
    moved: dict[str, float] = {}
    for work in sorted(heights, key=heights.__getitem__):
        moved[work] = max([heights[work], *(height + 15 for height in moved.values())])
    return moved


def table(told: dict[str, Any]) -> str:
    """Ratios a size, and what they were measured on."""
    results, machine = told["results"], told["machine"]
    sizes = sorted({row["notes"] for row in results})
    rows = ["| ratio | " + " | ".join(f"{size:,} notes" for size in sizes) + " |"]
    rows.append("|---|" + "---:|" * len(sizes))
    for corpus in dict.fromkeys(row["corpus"] for row in results):
        measured = {row["notes"]: row["ratios"] for row in results if row["corpus"] == corpus}
        rows += [
            f"| {name}{corpus} | " + " | ".join(f"{measured[size][name]:.2f}" for size in sizes) + " |"
            for name in results[0]["ratios"]
        ]
    where = f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}, load {machine['load']:.1f}"
    return "\n".join([*rows, "", f"Medians of {results[0]['rounds']} interleaved rounds on {where}."])


def peers(rows: list[dict[str, Any]]) -> str:
    """How many times the CPU of ours an original takes."""
    lines = ["| original | on | its CPU / ours |", "|---|---|---:|"]
    return "\n".join([*lines, *(f"| {row['peer']} | {row['corpus']} | {row['ratio']:.1f} |" for row in rows)])


def main() -> None:
    told = json.loads(sys.stdin.read() if sys.argv[1] == "-" else Path(sys.argv[1]).read_text(encoding="utf-8"))
    ordinary = [row for row in told["results"] if not row["corpus"]]
    label = "CPU seconds against number of notes"
    write_file(DOCS / "speed.svg", document(lambda: drawn(ordinary), label).encode())
    page = DOCS / "speed.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    tables = f"{table(told)}\n\n{peers(told['peers'])}"
    write_file(page, f"{before}{MARKS[0]}\n{tables}\n{MARKS[1]}{after}".encode())


if __name__ == "__main__":
    main()
