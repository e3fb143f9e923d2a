#!/usr/bin/env python3
"""Every metric of src/partwise/metrics once more, in NumPy and written from the headers' formulas alone.

usage: metrics_reference.py > metrics_reference.json      (Debian: python3-numpy)
       metrics_reference.py metrics_reference.json        compares instead; exits 77 (skipped) without NumPy

The C++ test metrics.reference rebuilds the same random dump and must agree with every number to 1e-9.
reference_dump.py says how the dump is made.
"""
import json
import math
import sys

try:
    import numpy as np
except ImportError:
    print("no NumPy")
    sys.exit(77)

from reference_dump import (CATEGORIES, CELL, CENTRES, FILTER_CATEGORY, FILTERS, LABELS, MAPS, NAN, NOISY_CELL, OFFSET, ONCE, PEAK,
                            PIXELS, POSITIVE_PART, RESAMPLES, ROW_CATEGORY, ROWS, ROWS_OF, SCORES, SEED, SIDE, STRIDE, TRAINING_PEAK,
                            TRUTH, Stream, control, derived)


# --- statistics -----------------------------------------------------------------------------------------------------------
def mean(values, weights=None):
    values = np.asarray(values, float)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, float)
    keep = ~np.isnan(values) & (weights > 0)
    return float((values[keep] * weights[keep]).sum() / weights[keep].sum()) if keep.any() else NAN


def largest(values):
    values = [v for v in values if not math.isnan(v)]
    return max(values) if values else NAN


def deviation(values):
    return float(np.std(values, ddof=1)) if len(values) > 1 else NAN


def resamples(filters):
    for index in range(RESAMPLES):
        stream = Stream(derived(SEED, index))
        rows = stream.counts(ROWS)
        yield rows, stream.counts(filters), stream.bits()


def interval(statistic, filters=FILTERS, value=None, least=-math.inf, most=math.inf):
    """Percentile interval; centred on the value where one is given."""
    drawn = np.array([statistic(*draw) for draw in resamples(filters)], float)
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return NAN, NAN
    low, high = np.quantile(drawn, [0.025, 0.975])
    bias = 0.0 if value is None else (drawn - value).mean()
    return tuple(min(max(end - bias, least), most) for end in (low, high))


OUT = {}


def put(name, value, ends=None, **controls):
    OUT[name] = value
    if ends is not None:
        OUT[name + ".low"], OUT[name + ".high"] = ends
    for key, number in controls.items():
        OUT[f"{name}.{key}"] = number


def put_filter_mean(name, number, least=0.0, most=1.0, **controls):
    """number(filter, row_counts)"""
    value = mean([number(f, ONCE) for f in range(FILTERS)])
    ends = interval(lambda rows, filters, _: mean([number(f, rows) for f in range(FILTERS)], filters), value=value, least=least, most=most)
    put(name, value, ends, **controls)
    OUT[name + ".filters"] = [number(f, ONCE) for f in range(FILTERS)]


# --- accuracy, purity -----------------------------------------------------------------------------------------------------
said = np.where(np.isnan(SCORES), -np.inf, SCORES).argmax(1)
right = (said == LABELS).astype(float)
put("accuracy", right.mean(), interval(lambda rows, *_: mean(right, rows), 0), majority_class=np.bincount(LABELS).max() / ROWS)
recalls = lambda rows: mean([mean(right[np.array(LABELS) == c], rows[np.array(LABELS) == c]) for c in range(3)])
put("balanced_accuracy", recalls(ONCE), interval(lambda rows, *_: recalls(rows), 0))


def purity(rows, filters, kind):
    by_row = []
    for r in range(ROWS):
        total = part = 0.0
        for f in range(FILTERS):
            x = POSITIVE_PART[r, f]
            i, j = divmod(int(CELL[r, f]), SIDE)
            near = np.array([(abs(c // SIDE - i) + abs(c % SIDE - j)) * 4.0 < SIDE for c in range(SIDE * SIDE)])
            top = max(PEAK[r, f], 0.0)
            kinds = {"value": x[near].sum(), "even": x.sum() * near.sum() / x.size,
                     "scattered": top + (x.sum() - top) * (near.sum() - 1) / (x.size - 1)}
            total += filters[f] * x.sum()
            part += filters[f] * kinds[kind]
        by_row.append(part / total if total else NAN)
    return mean(by_row, rows)


each = np.ones(FILTERS, int)
put("purity", purity(ONCE, each, "value"), interval(lambda rows, filters, _: purity(rows, filters, "value")),
    uniform_map=purity(ONCE, each, "even"), scattered=purity(ONCE, each, "scattered"))


# --- filters at work ------------------------------------------------------------------------------------------------------
def loudness(f, rows):
    strongest_first = [max(PEAK[r, f], 0.0) for r in sorted(range(ROWS), key=lambda r: -PEAK[r, f]) for _ in range(rows[r])]
    wanted = max(ROWS // 6, 1)
    return sum(map(float, strongest_first[:wanted])) / wanted


def silent_share(rows, filters):
    loud = sorted((value for f in range(FILTERS) for value in [loudness(f, rows)] * filters[f]), reverse=True)
    strong = np.median(loud[: max(len(loud) // 4, 1)])
    return mean([float(not value > 0 or value < 0.05 * strong) for value in loud])


def effective_filters(rows, filters):
    busy = np.array([(POSITIVE_PART[:, f].sum(1) * rows).sum() for f in range(FILTERS)])
    return float((busy * filters).sum() ** 2 / (busy * busy * filters).sum())


def smallest_share(stands_for, filters):
    return min(sum(filters[f] for f in range(FILTERS) if stands_for[f] == c) for c in range(2)) * 2 / FILTERS


def any_category(draw):
    stream = control("serv", draw)
    return [stream.below(2) for _ in range(FILTERS)]


all_filters = np.ones(FILTERS, int)
value = silent_share(ONCE, all_filters)
put("silent_share", value, interval(lambda rows, filters, _: silent_share(rows, filters), value=value, least=0.0, most=1.0))
value = effective_filters(ONCE, all_filters)
put("effective_filters", value, interval(lambda rows, filters, _: effective_filters(rows, filters), value=value, least=0.0, most=FILTERS))
firing = [FILTER_CATEGORY[f] if (PEAK[:, f] > 0).any() else -1 for f in range(FILTERS)]
value = smallest_share(firing, all_filters)
put("smallest_category_share", value, interval(lambda rows, filters, _: smallest_share(firing, filters), value=value, least=0.0, most=1.0),
    random_categories=mean([smallest_share(any_category(draw), all_filters) for draw in range(200)]))


# --- location instability -------------------------------------------------------------------------------------------------
def strongest(f, rows):
    return sorted(rows, key=lambda r: -PEAK[r, f])


def pairs_of(f, k, counts, top):
    """Peaks and landmarks of the strongest rows with a single instance, repeated as drawn."""
    chosen = []
    for r in strongest(f, ROWS_OF[FILTER_CATEGORY[f]]):
        if len(TRUTH[r]["landmarks"][k]) == 1:
            chosen += [(CENTRES[CELL[r, f]], TRUTH[r]["landmarks"][k][0])] * int(counts[r])
    return [p for p, _ in chosen[:top]], [m for _, m in chosen[:top]]


def spread(peaks, marks):
    return deviation([math.dist(p, m) / (PIXELS * math.sqrt(2)) for p, m in zip(peaks, marks)])


def permutations(seed, k, size, f, count):
    """Those of a resample, for landmark k and filter f: one of 64 composed with some of 64 others."""

    def drawn(side, index):
        order = list(range(size))
        Stream(derived(seed, k, size, side, index)).shuffle(order)
        return order

    first = drawn(0, f % 64)
    return [[first[i] for i in drawn(1, (f // 64 * count + c) % 64)] for c in range(count)]


def instability(f, counts, stream=None, shuffles=0, cells=False):
    """D, D_shuffle, uniform_random, constant_centre of a filter."""
    numbers = []
    middle = ((PIXELS - 1) / 2,) * 2
    for k in range(len(CATEGORIES[FILTER_CATEGORY[f]]["landmarks"])):
        peaks, marks = pairs_of(f, k, counts, 9)
        own, shuffled, at_random = spread(peaks, marks), NAN, NAN
        if isinstance(stream, int):
            orders = permutations(stream, k, len(peaks), f, shuffles)
            shuffled = mean([spread([peaks[i] for i in order], marks) for order in orders])
        elif stream:
            drawn = []
            for _ in range(shuffles):
                stream.shuffle(peaks)
                drawn.append(spread(peaks, marks))
            shuffled = mean(drawn)
        if cells:
            at_random = mean([spread([CENTRES[stream.below(len(CENTRES))] for _ in marks], marks) for _ in range(shuffles)])
        numbers.append((own, shuffled, at_random, spread([middle] * len(marks), marks)))
    return [mean(column) for column in zip(*numbers)]


full = [instability(f, ONCE, control("inst", f), 3, True) for f in range(FILTERS)]
value = mean([n[0] for n in full])
ratio = lambda numbers: numbers[0] / numbers[1] if numbers[1] > 0 else NAN
put("location_instability", value,
    interval(lambda rows, filters, _: mean([instability(f, rows)[0] for f in range(FILTERS)], filters), value=value, least=0.0),
    shuffled_landmarks=mean([n[1] for n in full]), uniform_random=mean([n[2] for n in full]), constant_centre=mean([n[3] for n in full]))


def resampled_ratio(rows, filters, seed):
    return mean([ratio(instability(f, rows, seed, 3)) if filters[f] else NAN for f in range(FILTERS)], filters)


value = mean([ratio(n) for n in full])
put("instability_ratio", value, interval(resampled_ratio, value=value, least=0.0))


# --- parts: interpretability and labels -----------------------------------------------------------------------------------
def upper_quantile(values, share):
    values = np.sort(np.where(np.isnan(values), -np.inf, values))[::-1]
    return values[math.floor(share * len(values) + 1e-9)]


def disc(centre, radius):
    y, x = np.mgrid[0:PIXELS, 0:PIXELS]
    return (x - centre[0]) ** 2 + (y - centre[1]) ** 2 <= radius * radius


DISCS = [disc(c, 0.2 * PIXELS) for c in CENTRES]


def overlap(region, part):
    return float((region & part).sum() / (region | part).sum()) if part.any() else NAN


def overlaps(f, stream_name):
    """[row][part] of the filter's category: own, and with the parts of another row."""
    rows = ROWS_OF[FILTER_CATEGORY[f]]
    threshold = np.float32(upper_quantile(POSITIVE_PART[rows, f].ravel(), 0.1))
    partner = control(stream_name, f).derangement(len(rows))
    own, other = {}, {}
    for i, r in enumerate(rows):
        hot = [c for c in range(SIDE * SIDE) if MAPS[r, f, c] > threshold]
        region = np.any([DISCS[c] for c in hot], axis=0) if hot else np.zeros((PIXELS, PIXELS), bool)
        own[r] = [overlap(region, p) for p in TRUTH[r]["parts"]]
        other[r] = [overlap(region, p) for p in TRUTH[rows[partner[i]]]["parts"]]
    return own, other


def by_part(table, counts, number):
    parts = len(next(iter(table.values())))
    return [mean([number(table[r][k]) for r in table], [counts[r] for r in table]) for k in range(parts)]


hit = lambda iou: NAN if math.isnan(iou) else float(iou > 0.2)
CENTRE_DISC = disc(((PIXELS - 1) / 2,) * 2, 0.2 * PIXELS)
CENTRED = [{r: [overlap(CENTRE_DISC, p) for p in TRUTH[r]["parts"]] for r in rows} for rows in ROWS_OF]
PART = [overlaps(f, "part") for f in range(FILTERS)]
put_filter_mean("part_interpretability", lambda f, rows: largest(by_part(PART[f][0], rows, hit)),
                shuffled_images=mean([largest(by_part(PART[f][1], ONCE, hit)) for f in range(FILTERS)]),
                constant_centre=mean([largest(by_part(CENTRED[c], ONCE, hit)) for c in FILTER_CATEGORY]))
LABEL = [overlaps(f, "labe") for f in range(FILTERS)]
itself = lambda iou: iou


def margin(values):
    best = int(np.nanargmax(values))
    return values[best] - largest(values[:best] + values[best + 1:])


put_filter_mean("part_labels.iou", lambda f, rows: largest(by_part(LABEL[f][0], rows, itself)),
                shuffled_images=mean([largest(by_part(LABEL[f][1], ONCE, itself)) for f in range(FILTERS)]),
                constant_centre=mean([largest(by_part(CENTRED[c], ONCE, itself)) for c in FILTER_CATEGORY]))
put_filter_mean("part_labels.margin", lambda f, rows: margin(by_part(LABEL[f][0], rows, itself)),
                shuffled_images=mean([margin(by_part(LABEL[f][1], ONCE, itself)) for f in range(FILTERS)]))


# --- single filters -------------------------------------------------------------------------------------------------------
POSITIVE = [np.array([c == FILTER_CATEGORY[f] for c in ROW_CATEGORY]) for f in range(FILTERS)]


def accuracy_at(threshold, scores, positive, counts):
    return mean((scores > threshold) == positive, counts)


def balanced_at(threshold, scores, positive, counts):
    called = scores > threshold
    return (mean(called[positive], counts[positive]) + mean(~called[~positive], counts[~positive])) / 2


def fitted(f, counts, positive=None):
    positive = POSITIVE[f] if positive is None else positive
    return max(accuracy_at(t, PEAK[:, f], positive, counts) for t in [-np.inf, *PEAK[:, f]])


def trained(f):
    scores = TRAINING_PEAK[:, f]
    candidates = sorted({-np.inf, *scores}, reverse=True)
    return max(candidates, key=lambda t: (round(balanced_at(t, scores, POSITIVE[f], ONCE), 12), t))


def auc(f, counts):
    won = total = 0.0
    for a in np.flatnonzero(POSITIVE[f]):
        for b in np.flatnonzero(~POSITIVE[f]):
            pairs = counts[a] * counts[b]
            total += pairs
            won += pairs * (1.0 if PEAK[a, f] > PEAK[b, f] else 0.5 if PEAK[a, f] == PEAK[b, f] else 0.0)
    return won / total if total else NAN


def permuted(f):
    labels = list(POSITIVE[f])
    control("sing", f).shuffle(labels)
    return np.array(labels)


THRESHOLD = [trained(f) for f in range(FILTERS)]
put_filter_mean("single_filter.fitted", fitted, majority_class=mean([max(p.mean(), 1 - p.mean()) for p in POSITIVE]),
                shuffled_labels=mean([fitted(f, ONCE, permuted(f)) for f in range(FILTERS)]))
put_filter_mean("single_filter.accuracy", lambda f, rows: accuracy_at(THRESHOLD[f], PEAK[:, f], POSITIVE[f], rows))
put_filter_mean("single_filter.balanced", lambda f, rows: balanced_at(THRESHOLD[f], PEAK[:, f], POSITIVE[f], rows))
put_filter_mean("single_filter.auc", auc)


def magnitudes(rows, filters, categories=ROW_CATEGORY):
    sides = {True: [0.0, 0.0], False: [0.0, 0.0]}
    for f in range(FILTERS):
        for r in range(ROWS):
            side = sides[categories[r] == FILTER_CATEGORY[f]]
            side[0] += float(rows[r] * filters[f]) * max(float(PEAK[r, f]), 0.0)
            side[1] += rows[r] * filters[f]
    target, other = (s[0] / s[1] for s in (sides[True], sides[False]))
    return target, other, target / other


labels = list(ROW_CATEGORY)
control("magn", 0).shuffle(labels)
for i, name in enumerate(["on_target", "on_other", "ratio"]):
    put("magnitude." + name, magnitudes(ONCE, each)[i], interval(lambda rows, filters, _: magnitudes(rows, filters)[i]))
OUT["magnitude.ratio.shuffled_labels"] = magnitudes(ONCE, each, labels)[2]


def selectivity(f, rows, classes):
    means = [mean([POSITIVE_PART[r, f].mean() for r in range(ROWS) if classes[r] == c], [rows[r] for r in range(ROWS) if classes[r] == c])
             for c in range(3)]
    best = largest(means)
    rest = list(means)
    rest.remove(best)
    return (best - mean(rest)) / (best + mean(rest)) if best + mean(rest) > 0 else NAN


def permuted_classes(f):
    classes = list(LABELS)
    control("sele", f).shuffle(classes)
    return classes


put_filter_mean("class_selectivity", lambda f, rows: selectivity(f, rows, LABELS),
                shuffled_labels=mean([selectivity(f, ONCE, permuted_classes(f)) for f in range(FILTERS)]))


# --- boxes around peaks ---------------------------------------------------------------------------------------------------
def held(centre, half, points):
    return any(abs(x - centre[0]) <= half and abs(y - centre[1]) <= half for x, y in points)


def inside(centre, half):
    return tuple(min(max(c, half - 0.5), PIXELS - 0.5 - half) for c in centre)


def eyes_and_tail(r):
    names = CATEGORIES[ROW_CATEGORY[r]]["landmarks"] if ROW_CATEGORY[r] >= 0 else []
    points = {"right eye": [], "tail": []}
    for name, instances in zip(names, TRUTH[r]["landmarks"]):
        points[name.replace("left", "right")] += instances
    return points.values()


def others(stream):
    other = list(range(ROWS))
    for rows in ROWS_OF:
        partner = stream.derangement(len(rows))
        for i, r in enumerate(rows):
            other[r] = rows[partner[i]]
    return other


def patch_purity(f, counts, strict, other=range(ROWS), centre=None):
    half = 0.3 * PIXELS / 2
    drawn = [r for r in strongest(f, range(ROWS)) for _ in range(int(counts[r]))][:8]
    seen = [[NAN if not points else float(held(centre or inside(CENTRES[CELL[r, f]], half), half, points))
             for points in eyes_and_tail(other[r])] for r in drawn]
    shares = [mean(column) for column in zip(*seen)]
    if math.isnan(largest(shares)):
        return NAN
    return max(np.nansum(column) for column in zip(*seen)) / len(drawn) if strict else largest(shares)


CENTRE = ((PIXELS - 1) / 2,) * 2
for name, strict in [("purity", False), ("strict", True)]:
    put_filter_mean("patch_purity." + name, lambda f, rows: patch_purity(f, rows, strict),
                    shuffled_images=mean([patch_purity(f, ONCE, strict, others(control("puri", f))) for f in range(FILTERS)]),
                    constant_centre=mean([patch_purity(f, ONCE, strict, centre=CENTRE) for f in range(FILTERS)]))
OUT["patch_purity.deviation"] = float(np.nanstd(OUT["patch_purity.purity.filters"]))


def consistency(f, counts, centre_of):
    rows = ROWS_OF[FILTER_CATEGORY[f]]
    half = 0.4 * PIXELS / 2
    seen = [[NAN if not points else float(held(centre_of(i, r), half, points)) for points in TRUTH[r]["landmarks"]]
            for i, r in enumerate(rows)]
    best = largest([mean(column, [counts[r] for r in rows]) for column in zip(*seen)])
    return NAN if math.isnan(best) else float(best >= 0.35)


def consistency_shuffled(f):
    rows = ROWS_OF[FILTER_CATEGORY[f]]
    partner = control("cons", f).derangement(len(rows))
    return consistency(f, ONCE, lambda i, r: CENTRES[CELL[rows[partner[i]], f]])


put_filter_mean("consistency", lambda f, rows: consistency(f, rows, lambda i, r: CENTRES[CELL[r, f]]),
                shuffled_images=mean([consistency_shuffled(f) for f in range(FILTERS)]),
                constant_centre=mean([consistency(f, ONCE, lambda i, r: CENTRE) for f in range(FILTERS)]))


def parts_held(r, cell):
    return [held(CENTRES[cell], 0.4 * PIXELS / 2, points) for points in TRUTH[r]["landmarks"]]


def stability(f, counts, other_cell):
    rows = ROWS_OF[FILTER_CATEGORY[f]]
    same = [float(parts_held(r, CELL[r, f]) == parts_held(r, other_cell(i, r))) for i, r in enumerate(rows)]
    return mean(same, [counts[r] for r in rows])


def stability_elsewhere(f):
    rows = ROWS_OF[FILTER_CATEGORY[f]]
    partner = control("stab", f).derangement(len(rows))
    return stability(f, ONCE, lambda i, r: CELL[rows[partner[i]], f])


put_filter_mean("stability", lambda f, rows: stability(f, rows, lambda i, r: NOISY_CELL[r, f]),
                other_images=mean([stability_elsewhere(f) for f in range(FILTERS)]))
del OUT["stability.filters"]


# --- Network Dissection ---------------------------------------------------------------------------------------------------
def enlarged(x, pixels):
    place = np.clip((pixels - OFFSET) / STRIDE, 0, SIDE - 1)
    before = np.minimum(place.astype(int), SIDE - 2)
    u = place - before
    x = x.reshape(SIDE, SIDE).astype(float)
    wide = x[:, before] + u * (x[:, before + 1] - x[:, before])
    return (wide[before] + u[:, None] * (wide[before + 1] - wide[before])).astype(np.float32)


def dissect(name, quantile, of_pixels, step):
    pixels = np.arange(step // 2, PIXELS, step)
    large = np.array([[enlarged(MAPS[r, f], pixels) for f in range(FILTERS)] for r in range(ROWS)])
    concepts = ["head", "tail", "leg"]
    annotated = [r for r in range(ROWS) if ROW_CATEGORY[r] >= 0]
    masks = np.zeros((ROWS, 3, len(pixels), len(pixels)), bool)
    for r in annotated:
        for part, mask in zip(CATEGORIES[ROW_CATEGORY[r]]["parts"], TRUTH[r]["parts"]):
            masks[r, concepts.index(part)] = mask[np.ix_(pixels, pixels)]
    thresholds = [upper_quantile((large if of_pixels else MAPS)[:, f].ravel(), quantile) for f in range(FILTERS)]
    fires = np.array([[large[r, f] > thresholds[f] for f in range(FILTERS)] for r in range(ROWS)])

    def ious(f, counts, other=range(ROWS)):
        both = sum(counts[r] * (fires[r, f] & masks[other[r]]).sum((1, 2)) for r in annotated)
        fired = sum(counts[r] * fires[r, f].sum() for r in annotated)
        shown = sum(counts[r] * masks[r].sum((1, 2)) for r in annotated)
        return [float(b / (fired + s - b)) if s else NAN for b, s in zip(both, shown)]

    verdict = lambda iou: NAN if math.isnan(iou) else float(iou > 0.04)
    other = others(control("diss", 0))
    value = mean([verdict(largest(ious(f, ONCE))) for f in range(FILTERS)])
    resampled = lambda rows, filters, _: mean([verdict(largest(ious(f, rows))) for f in range(FILTERS)], filters)
    put(name, value, interval(resampled, value=value, least=0.0, most=1.0),
        shuffled_images=mean([verdict(largest(ious(f, ONCE, other))) for f in range(FILTERS)]))
    OUT[name + ".thresholds"] = [float(t) for t in thresholds]
    OUT[name + ".ious"] = [largest(ious(f, ONCE)) for f in range(FILTERS)]
    OUT[name + ".chances"] = [largest(ious(f, ONCE, other)) for f in range(FILTERS)]
    OUT[name + ".unique"] = len({int(np.argmax(ious(f, ONCE))) for f in range(FILTERS) if largest(ious(f, ONCE)) > 0.04})


dissect("dissection_2017", 0.1, False, 1)
dissect("dissection_2020", 0.1, True, 4)


# --- comparisons ----------------------------------------------------------------------------------------------------------
EXISTING = np.where(np.isneginf(PEAK), NAN, PEAK).astype(float)
put("adversarial_distortion", mean(EXISTING[:, 1]), interval(lambda rows, *_: mean(EXISTING[:, 1], rows), 0),
    random_direction=mean(EXISTING[:, 2]))
TABLES = [EXISTING[:, :4], EXISTING[:, 3:]]


def table_mean(table, rows, filters):
    return mean([mean(column, rows) for column in table.T], filters)


def partner_filters(index, filters):
    """Other filters with the rows of the same draw."""
    stream = Stream(derived(SEED, index))
    stream.counts(ROWS)
    return Stream(derived(stream.bits(), 1)).counts(filters)


values = [table_mean(TABLES[0], ONCE, each[:4]), table_mean(TABLES[1], ONCE, each[:3])]
value = values[1] - values[0]
drawn = np.array([table_mean(TABLES[1], rows, partner_filters(i, 3)) - table_mean(TABLES[0], rows, filters)
                  for i, (rows, filters, _) in enumerate(resamples(4))])
put("comparison.paired", value, np.quantile(drawn, [0.025, 0.975]) - (drawn - value).mean())
ends = [interval(lambda rows, filters, _, table=table: table_mean(table, rows, filters), table.shape[1], value=own)
        for table, own in zip(TABLES, values)]
put("comparison.independent", value, (value - math.hypot(values[1] - ends[1][0], ends[0][1] - values[0]),
                                      value + math.hypot(ends[1][1] - values[1], values[0] - ends[0][0])))


def t_within(t, degrees, steps=200000):
    """P(|T| <= t) by Simpson's rule."""
    x = np.linspace(0, t, steps + 1)
    y = (1 + x * x / degrees) ** (-(degrees + 1) / 2)
    weights = np.ones(steps + 1)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    return 2 * constant * (y * weights).sum() * t / steps / 3


def student(degrees):
    low, high = 0.0, 16.0
    for _ in range(48):
        middle = (low + high) / 2
        low, high = (middle, high) if t_within(middle, degrees) < 0.95 else (low, middle)
    return low


seeds = np.array([float(PEAK[r, 4]) for r in range(5)])
reach = student(4) * seeds.std(ddof=1) / math.sqrt(5)
put("seeds", seeds.mean(), (seeds.mean() - reach, seeds.mean() + reach))


def plain(value):
    if isinstance(value, list):
        return [plain(v) for v in value]
    return None if math.isnan(value) else float(value)


numbers = {name: plain(value) for name, value in OUT.items()}
if len(sys.argv) < 2:
    print(json.dumps(numbers, indent=1))
    sys.exit()
with open(sys.argv[1], encoding="utf-8") as file:
    committed = json.load(file)
assert committed.keys() == numbers.keys()
for name, value in numbers.items():
    ours, theirs = (np.array(v, float) for v in (value, committed[name]))
    assert np.allclose(ours, theirs, rtol=0, atol=1e-12, equal_nan=True), name
