#!/usr/bin/env python3
"""Draw docs/pictures/claims.svg from the table in README.md: four arms, their intervals, the controls as lines.

usage: draw_claims.py [--check]     --check: fail if the picture is not what the table says
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "claims.svg"
PANELS = [  # column of the table, heading, ends of the axis, which way is better
    (1, "purity, first layer", 0.0, 1.0, "→ better"),
    (2, "part interpretability, new layer", 0.0, 1.0, "→ better"),
    (3, "D / D_shuffle, new layer", 0.4, 1.1, "← better"),
]
LEFT, WIDTH, GAP, TOP, STEP = 120, 240, 32, 64, 34
BLUE, GREY, RED = "#1f5f99", "#666666", "#b03a2e"


def table():
    """arm -> its cells; "control" -> the last row's."""
    rows = {}
    lines = iter((ROOT / "README.md").read_text().splitlines())
    for line in lines:
        if line.startswith("| seed 1 |"):
            break
    for line in lines:
        if not line.startswith("|"):
            break
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[name.strip("*")] = cells
    return {name: cells for name, cells in rows.items() if not name.startswith("---")}


def text(x, y, words, colour="#222222", anchor="start", size=13):
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def line(x1, y1, x2, y2, colour, more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {more}/>'


def panel(at, rows, column, heading, low, high, better):
    arms = [name for name in rows if name != "control"]
    bottom = TOP + STEP * len(arms)

    def place(value):
        return at + (value - low) / (high - low) * WIDTH

    out = [text(at, TOP - 30, heading, size=14), text(at + WIDTH, TOP - 12, better, GREY, "end", 12),
           line(at, bottom, at + WIDTH, bottom, GREY)]
    for tick in range(round(low * 10), round(high * 10) + 1, 2):
        out += [line(place(tick / 10), bottom, place(tick / 10), bottom + 5, GREY),
                text(place(tick / 10), bottom + 20, f"{tick / 10:.1f}", GREY, "middle", 12)]
    for number, control in enumerate(rows["control"][column].split(", ")):
        x = place(float(control.split(" ")[0]))
        out += [line(x, TOP - 6, x, bottom, RED, 'stroke-dasharray="5 4"'),
                text(at, bottom + 42 + 16 * number, "- - " + control, RED, size=12)]
    for row, arm in enumerate(arms):
        y = TOP + STEP * (row + 0.5)
        numbers = [float(number) for number in re.findall(r"\d+\.\d+", rows[arm][column])]
        if not numbers:
            out.append(text(at + 4, y + 4, "–", GREY))
            continue
        value, first, last = map(place, numbers)
        out += [line(first, y, last, y, BLUE, 'stroke-width="3"'), f'<circle cx="{value:.1f}" cy="{y:.1f}" r="5" fill="{BLUE}"/>']
    return out


def picture():
    rows = table()
    arms = [name for name in rows if name != "control"]
    width = LEFT + len(PANELS) * (WIDTH + GAP)
    height = TOP + STEP * len(arms) + 70
    body = [text(LEFT - 12, TOP + STEP * (row + 0.5) + 4, arm, anchor="end") for row, arm in enumerate(arms)]
    for number, (column, *rest) in enumerate(PANELS):
        body += panel(LEFT + number * (WIDTH + GAP), rows, column, *rest)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *body, "</svg>", ""])


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PICTURE.read_text() != picture() and f"{PICTURE}: not what README.md's table says; run tools/draw_claims.py")
    PICTURE.write_text(picture())
