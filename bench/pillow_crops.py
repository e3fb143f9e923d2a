#!/usr/bin/env python3
"""Crops of a part-dataset by Pillow and by us, in turn, one thread each: CPU time as a ratio, and grey levels.

    pillow_crops.py CROP_SIDES DATASET [SIDE] [REPEATS]     CROP_SIDES: build/release/bench/crop_sides; needs python3-pil, python3-numpy
"""
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
from PIL import Image

CHUNK = 50  # crops that each side makes before it is the other's turn


def edges(start, extent, size):
    """The crop rule: edges rounded to whole pixels and cut off at the image."""
    first = min(math.floor(min(max(start, 0), size) + 0.5), size - 1)
    return first, max(math.floor(min(max(start + extent, 0), size) + 0.5), first + 1)


def crops_of(folder):
    """(file, (left, top, right, bottom)) of every object and negative, in the order of the images."""
    dataset = json.loads((folder / "dataset.json").read_text())
    objects = {}
    for annotation in dataset["annotations"]:
        objects.setdefault(annotation["image_id"], []).append(annotation["bbox"])
    for record in dataset["images"]:
        width, height = record["width"], record["height"]
        for x, y, w, h in objects.get(record["id"], [(0, 0, width, height)]):
            (left, right), (top, bottom) = edges(x, w, width), edges(y, h, height)
            yield str(folder / record["file_name"]), (left, top, right, bottom)


def by_pillow(path, window, side):
    image = Image.open(path)
    if image.mode != "RGB":
        image = image.convert("RGB")
    return image.crop(window).resize((side, side), Image.BILINEAR)


def pillow_seconds(crops, side):
    start = time.process_time()
    for path, window in crops:
        by_pillow(path, window, side)
    return time.process_time() - start


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    side, repeats = (int(value) for value in (sys.argv[3:] + ["224", "7"][len(sys.argv) - 3:])[:2])
    crops = list(crops_of(folder))
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "crops.bin"
        ours = subprocess.Popen([program, folder, str(side), out], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert int(ours.stdout.readline()) == len(crops)

        def our_seconds(what, first, end):
            ours.stdin.write(f"{what} {first} {end}\n")
            ours.stdin.flush()
            return float(ours.stdout.readline())

        times = {name: [] for name in ("pillow", "crops", "whole", "scan")}
        for _ in range(repeats):
            seconds = dict.fromkeys(times, 0.0)
            for first in range(0, len(crops), CHUNK):
                end = min(first + CHUNK, len(crops))
                seconds["pillow"] += pillow_seconds(crops[first:end], side)
                for what in ("crops", "whole", "scan"):
                    seconds[what] += our_seconds(what, first, end)
            for name in times:
                times[name].append(1e3 * seconds[name] / len(crops))
        ours.stdin.close()
        ours.wait()
        made = numpy.memmap(out, numpy.uint8, "r", shape=(len(crops), 3, side, side))
        mean, largest = [], 0
        for row, (path, window) in zip(made, crops):
            theirs = numpy.asarray(by_pillow(path, window, side)).transpose(2, 0, 1)
            difference = numpy.abs(theirs.astype(int) - row)
            mean.append(difference.mean())
            largest = max(largest, int(difference.max()))
    print(f"{folder.name}: {len(crops)} crops of {side} x {side}, CPU ms per crop, {repeats} repeats, median [quartiles]")
    for name, words in (("pillow", "Pillow: open, crop, resize"), ("crops", "partwise: the same, as planes"),
                        ("whole", "  whole files decoded, nothing else"), ("scan", "  codes undone, nothing else")):
        print(f"  {words:36} {quartiles(times[name])}")
    print(f"  Pillow / partwise {quartiles([a / b for a, b in zip(times['pillow'], times['crops'])])}; "
          f"grey levels: mean difference {statistics.mean(mean):.4f}, largest {largest}")


main()
