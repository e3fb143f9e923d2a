#!/usr/bin/env python3
"""The plain NumPy way to part interpretability and Network Dissection, on the sizes of metrics_bench (1000 rows, 14 x 14 cells, five
part masks of 224 x 224 pixels) but few filters, one thread and no intervals: what the C++ is held against.

usage: metrics_simple.py [filters]      prints seconds a filter
"""
import sys
import time

import numpy as np

FILTERS = int(sys.argv[1]) if len(sys.argv) > 1 else 4
ROWS, SIDE, PIXELS, PARTS = 1000, 14, 224, 5
random = np.random.default_rng(1)
maps = np.maximum(0, random.random((ROWS, FILTERS, SIDE, SIDE), np.float32) * 3 - 2)
y, x = np.mgrid[0:PIXELS, 0:PIXELS]


def disc(cx, cy, radius):
    return (x - cx) ** 2 + (y - cy) ** 2 <= radius * radius


parts = np.stack([[disc(*random.uniform(0, PIXELS, 2), random.uniform(10, 50)) for _ in range(PARTS)] for _ in range(ROWS)])
centres = 7.5 + 16 * np.arange(SIDE)
place = np.clip((np.arange(PIXELS) - 7.5) / 16, 0, SIDE - 1)
before = np.minimum(place.astype(int), SIDE - 2)
enlarge = np.zeros((PIXELS, SIDE))
enlarge[np.arange(PIXELS), before] = 1 - (place - before)
enlarge[np.arange(PIXELS), before + 1] = place - before
discs = [disc(centres[c % SIDE], centres[c // SIDE], 0.1 * PIXELS) for c in range(SIDE * SIDE)]


def interpretability(f):
    threshold = np.sort(maps[:, f].ravel())[::-1][int(0.005 * ROWS * SIDE * SIDE)]
    hits = np.zeros(PARTS)
    for r in range(ROWS):
        region = np.zeros((PIXELS, PIXELS), bool)
        for cell in np.flatnonzero(maps[r, f].ravel() > threshold):
            region |= discs[cell]
        both = (parts[r] & region).sum((1, 2))
        hits += both / (parts[r] | region).sum((1, 2)) > 0.2
    return (hits / ROWS).max()


def detectors(f, step, share, of_pixels):
    grid = enlarge[step // 2::step]
    seen = parts[:, :, step // 2::step, step // 2::step]
    if of_pixels:
        values = np.concatenate([(grid @ maps[r, f] @ grid.T).astype(np.float32).ravel() for r in range(ROWS)])
    else:
        values = maps[:, f].ravel()
    threshold = np.partition(values, -int(share * values.size) - 1)[-int(share * values.size) - 1]
    both = np.zeros(PARTS)
    either = np.zeros(PARTS)
    for r in range(ROWS):
        mask = (grid @ maps[r, f] @ grid.T).astype(np.float32) > threshold
        both += (seen[r] & mask).sum((1, 2))
        either += (seen[r] | mask).sum((1, 2))
    return (both / either).max()


for name, run in [("part interpretability", interpretability), ("network dissection 2017", lambda f: detectors(f, 1, 0.005, False)),
                  ("network dissection 2020", lambda f: detectors(f, 4, 0.01, True))]:
    start = time.process_time()
    for f in range(FILTERS):
        run(f)
    print(f"{name:<26} {(time.process_time() - start) / FILTERS:.3f} s a filter")
