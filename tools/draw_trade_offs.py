#!/usr/bin/env python3
"""Draw docs/pictures/trade_offs.svg from tables of docs/notebook.md: what comes nearer to two goals, and its price in accuracy.

usage: draw_trade_offs.py [--check]     --check: fail if the picture is not what the tables say
"""
import pathlib
import re
import sys

from draw_claims import BLUE, GREY, RED, ROOT, line, text

PICTURE = ROOT / "docs" / "pictures" / "trade_offs.svg"
PALE = "#8fb0d0"
LEFT_OF = {"default", "clamp 3", "strength .015, before 0017"}  # labels; all others stand right of their points
ABOVE = {"vote 1", ".03", ".05"}
LEFT, WIDTH, GAP, TOP, HEIGHT, BELOW = 56, 400, 84, 84, 300, 48


def table(heading, cell):
    """Row name -> its numbers (what stands before ±; None where there is none), of the first table below `heading` whose first column is `cell`."""
    lines = (ROOT / "docs" / "notebook.md").read_text().split(f"\n{heading}\n")[1].splitlines()
    start = next(at for at, words in enumerate(lines) if words.startswith(f"| {cell} |"))
    rows = {}
    for words in lines[start + 2:]:
        if not words.startswith("|"):
            return rows
        name, *cells = [each.strip() for each in words.strip("|").split("|")]
        numbers = [re.match(r"[\d.]+", each) for each in cells]
        rows[name] = [number and float(number.group()) for number in numbers]
    return rows


def animals():
    """Points: (accuracy against ordinary, part interpretability of the new layer against masked, label, colour), and curves of the same."""
    terms, former, first = (table("### Terms of the default", "cell"), table("### Strength, schedule and how filters get their category", "cell"),
                            table("## Ablation on synthetic animals", "cell"))

    def point(row, ordinary, masked, column):
        return row[0] - ordinary[0], row[column] - masked[column]

    points = []
    labels = {"default", "vote 1", "without the vote", "masked"}
    for name, row in terms.items():
        if name.startswith(("ordinary", "method", "masked,")):
            continue
        masked = terms["masked, new layer 1x1" if name.endswith("1x1") else "masked"]
        points.append((*point(row, terms["ordinary"], masked, 4), name if name in labels else "", BLUE if name in labels else PALE))
    ends = [f"absolute assignment, strength {strength}, constant" for strength in ("0.015", "0.03", "0.05")]
    curve = [point(former[name], first["ordinary"], first["masked"], 2) for name in ends]
    points += [(*at, label, GREY) for at, label in zip(curve, ["strength .015, before 0017", ".03", ".05"])]
    return points, curve


def photographs():
    rows = table("### Trade-offs on photographs", "setting")
    ordinary = rows["ordinary"][0]
    colour = {"default": BLUE, "masked": BLUE, "ordinary+layer": BLUE, "before decision 0017": GREY}
    return [(row[0] - ordinary, row[1], name.replace("decision ", ""), colour.get(name, PALE)) for name, row in rows.items() if row[1]], []


def panel(at, heading, below, data, across, up, goals):
    (low, high), (bottom, top) = across, up

    def x(value):
        return at + (value - low) / (high - low) * WIDTH

    def y(value):
        return TOP + HEIGHT - (value - bottom) / (top - bottom) * HEIGHT

    goal_x, goal_y, better = goals
    points, curve = data
    edge = y(top) if better == "up" else y(goal_y)
    depth = abs(y(goal_y) - (y(top) if better == "up" else y(bottom)))
    out = [text(at - 40, TOP - 58, heading, size=15), text(at - 40, TOP - 38, below, GREY, size=12),
           f'<rect x="{x(goal_x):.1f}" y="{edge:.1f}" width="{at + WIDTH - x(goal_x):.1f}" height="{depth:.1f}" fill="{RED}" fill-opacity="0.08"/>',
           text(at + WIDTH - 6, edge + 16, "the goal", RED, "end", 12),
           line(at, TOP + HEIGHT, at + WIDTH, TOP + HEIGHT, GREY), line(at, TOP, at, TOP + HEIGHT, GREY)]
    for tick in range(round(low * 100), round(high * 100) + 1, 1 if high - low < 0.07 else 2):
        out += [line(x(tick / 100), TOP + HEIGHT, x(tick / 100), TOP + HEIGHT + 5, GREY),
                text(x(tick / 100), TOP + HEIGHT + 20, f"{tick / 100:+.2f}".replace("-", "−").replace("+0.00", "0"), GREY, "middle", 12)]
    for tick in range(round(bottom * 20), round(top * 20) + 1):
        out += [line(at - 5, y(tick / 20), at, y(tick / 20), GREY), text(at - 9, y(tick / 20) + 4, f"{tick / 20:.2f}", GREY, "end", 12)]
    places = " ".join(f"{x(first):.1f},{y(second):.1f}" for first, second in curve)
    out.append(f'<polyline points="{places}" fill="none" stroke="{GREY}" stroke-dasharray="2 4"/>')
    for first, second, label, colour in sorted(points, key=lambda point: point[3] != PALE):
        out.append(f'<circle cx="{x(first):.1f}" cy="{y(second):.1f}" r="5" fill="{colour}"/>')
        if label:
            across, down, anchor = (-9, 4, "end") if label in LEFT_OF else (0, -10, "middle") if label in ABOVE else (9, 4, "start")
            out.append(text(x(first) + across, y(second) + down, label, "#222222", anchor, 12))
    return out + [text(at + WIDTH / 2, TOP + HEIGHT + 40, "accuracy against ordinary", anchor="middle")]


def picture():
    width, height = LEFT + 2 * WIDTH + GAP + 40, TOP + HEIGHT + BELOW
    body = panel(LEFT, "Synthetic animals, seeds 11 to 13", "part interpretability of the new layer, above masked", animals(), (-0.05, 0.01), (-0.01, 0.12),
                 (-0.01, 0.10, "up"))
    body += panel(LEFT + WIDTH + GAP, "Photographs, five categories at once, seeds 11 and 12", "D / D_shuffle of the new layer, held-out; lower is better", photographs(),
                  (-0.07, 0.01), (0.60, 0.95), (-0.01, 0.75, "down"))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *body, "</svg>", ""])


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PICTURE.read_text() != picture() and f"{PICTURE}: not what docs/notebook.md's tables say; run tools/draw_trade_offs.py")
    PICTURE.write_text(picture())
