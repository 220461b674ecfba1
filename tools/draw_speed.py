"""Draw docs/speed.svg and the table of docs/speed.md from what benchmarks/reading_and_scoring.py --json wrote.

python tools/draw_speed.py speed.json
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
WIDTH, HEIGHT, LEFT, TOP = 640, 360, 70, 24
RIGHT, BOTTOM = WIDTH - 150, HEIGHT - 50
LINES = {
    "orjson": ("orjson.loads", "#777777", "4 3"),
    "msgspec": ("msgspec, typed", "#999999", "1 3"),
    "api": ("validate + score", "#0b62a4", ""),
    "cli": ("sandscore score", "#b5461a", ""),
}
MARKS = "<!-- measured -->", "<!-- end -->"


def drawn(results: list[dict[str, Any]]) -> str:
    """CPU time against size on logarithmic scales."""
    sizes = [row["notes"] for row in results]
    times = [row["medians"][work]["cpu"] for row in results for work in LINES]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    least, most = math.log10(sizes[0]), math.log10(sizes[-1])

    def x(notes: float) -> float:
        return LEFT + (math.log10(notes) - least) / (most - least or 1) * (RIGHT - LEFT)

    def y(seconds: float) -> float:
        return BOTTOM - (math.log10(seconds) - low) / (high - low) * (BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12" role="img" aria-label="CPU seconds against number of notes">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for power in range(low, high + 1):
        level = y(10.0**power)
        parts.append(f'<path d="M{LEFT} {level:.1f}H{RIGHT}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{level + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    parts += [f'<text x="{x(notes):.1f}" y="{BOTTOM + 20}" text-anchor="middle">{notes:,}</text>' for notes in sizes]
    middle = (LEFT + RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{BOTTOM + 40}" text-anchor="middle">notes, 20 annotations each</text>')
    for work, (name, colour, dashes) in LINES.items():
        points = [(x(row["notes"]), y(row["medians"][work]["cpu"])) for row in results]
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        offset = {"cli": -4, "api": 10, "orjson": 18, "msgspec": 14}[work]
        parts.append(f'<text x="{RIGHT + 8}" y="{points[-1][1] + offset:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def table(told: dict[str, Any]) -> str:
    """Ratios a size, and what they were measured on."""
    results, machine = told["results"], told["machine"]
    rows = ["| ratio | " + " | ".join(f"{row['notes']:,} notes" for row in results) + " |"]
    rows.append("|---|" + "---|" * len(results))
    rows += [
        f"| {name} | " + " | ".join(f"{row['ratios'][name]:.2f}" for row in results) + " |"
        for name in results[0]["ratios"]
    ]
    where = f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}, load {machine['load']:.1f}"
    return "\n".join([*rows, "", f"Medians of {results[0]['rounds']} interleaved rounds on {where}."])


def main() -> None:
    told = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    (DOCS / "speed.svg").write_text(drawn(told["results"]), encoding="utf-8")
    page = DOCS / "speed.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    page.write_text(f"{before}{MARKS[0]}\n{table(told)}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
