"""The random dump that metrics_reference.py and the C++ test metrics.reference both make.

40 rows, 6 filters, 5 x 5 cells in an input of 45 pixels, with ties, NaN, a dead filter and a map of nothing but NaN. Its
numbers come from one stream per purpose: with f the finaliser of SplitMix64 (its constant added first), draw i of seed s is
f((s + i) * 0xD1342543DE82EF95), a uniform number its upper 53 bits, a number below n the upper half of its product with n.
"""
import math

import numpy as np

ROWS, FILTERS, SIDE, PIXELS, OFFSET, STRIDE = 40, 6, 5, 45, 4.0, 9.0
RESAMPLES, SEED = 25, 7
MASK = (1 << 64) - 1
NAN = float("nan")
CATEGORIES = [
    {"landmarks": ["left eye", "right eye", "tail"], "parts": ["head", "tail"]},
    {"landmarks": ["right eye", "tail"], "parts": ["head", "leg"]},
]
FILTER_CATEGORY = [0, 1, 0, 1, 0, 1]
ROW_CATEGORY = [-1 if r % 5 == 4 else r % 2 for r in range(ROWS)]


# --- random numbers -------------------------------------------------------------------------------------------------------
def finalise(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def derived(*keys):
    seed = 0
    for key in keys:
        seed = finalise(seed ^ finalise(key))
    return seed


class Stream:
    def __init__(self, seed):
        self.state = seed

    def bits(self):
        value = finalise((self.state * 0xD1342543DE82EF95) & MASK)
        self.state = (self.state + 1) & MASK
        return value

    def uniform(self):
        return (self.bits() >> 11) * 2.0**-53

    def below(self, count):
        return (count * self.bits()) >> 64

    def shuffle(self, items):
        for i in range(len(items), 1, -1):
            j = self.below(i)
            items[i - 1], items[j] = items[j], items[i - 1]

    def counts(self, items):
        counts = [0] * items
        for _ in range(items):
            counts[self.below(items)] += 1
        return np.array(counts)

    def derangement(self, count):
        ring = list(range(count))
        self.shuffle(ring)
        partner = [0] * count
        for i in range(count):
            partner[ring[i]] = ring[(i + 1) % count]
        return partner


def control(name, item):
    return Stream(derived(SEED, int.from_bytes(name.encode(), "big"), item))


# --- the dump -------------------------------------------------------------------------------------------------------------
def make_maps(seed):
    stream = Stream(seed)
    maps = np.zeros((ROWS, FILTERS, SIDE * SIDE), np.float32)
    for place in np.ndindex(maps.shape):
        u, kind = stream.uniform(), stream.below(20)
        maps[place] = NAN if kind == 0 else math.floor(max(0.0, 8 * u - 4)) / 4 if kind < 6 else max(0.0, 2 * u - 1)
    maps[:, FILTERS - 1] = 0
    maps[3, 1] = NAN
    return maps


def make_truth(seed):
    stream = Stream(seed)
    y, x = np.mgrid[0:PIXELS, 0:PIXELS]
    truth = []
    for category in ROW_CATEGORY:
        row = {"landmarks": [], "parts": []}
        if category >= 0:
            for _ in CATEGORIES[category]["landmarks"]:
                instances = stream.below(3)
                row["landmarks"].append([(stream.uniform() * PIXELS, stream.uniform() * PIXELS) for _ in range(instances)])
            for _ in CATEGORIES[category]["parts"]:
                shown = stream.uniform() < 0.75
                cx, cy, radius = stream.uniform() * PIXELS, stream.uniform() * PIXELS, 3 + 9 * stream.uniform()
                row["parts"].append(((x - cx) ** 2 + (y - cy) ** 2 <= radius * radius) & shown)
        truth.append(row)
    return truth


def make_scores(seed):
    stream = Stream(seed)
    scores = np.zeros((ROWS, 3), np.float32)
    for place in np.ndindex(scores.shape):
        u, kind = stream.uniform(), stream.below(12)
        scores[place] = NAN if kind == 0 else math.floor(4 * u)
    return scores, [stream.below(3) for _ in range(ROWS)]


MAPS, TRAINING, NOISY, TRUTH = make_maps(101), make_maps(102), make_maps(103), make_truth(104)
SCORES, LABELS = make_scores(105)
CENTRES = [(OFFSET + STRIDE * (c % SIDE), OFFSET + STRIDE * (c // SIDE)) for c in range(SIDE * SIDE)]
ROWS_OF = [[r for r in range(ROWS) if ROW_CATEGORY[r] == c] for c in range(len(CATEGORIES))]
ONCE = np.ones(ROWS, int)
POSITIVE_PART = np.where(MAPS > 0, MAPS, 0).astype(float)


def peaks_of(maps):
    lowered = np.where(np.isnan(maps), -np.inf, maps)
    return lowered.argmax(2), lowered.max(2)


CELL, PEAK = peaks_of(MAPS)
_, TRAINING_PEAK = peaks_of(TRAINING)
NOISY_CELL, _ = peaks_of(NOISY)
