#!/usr/bin/env python3
"""What each choice of the method does, on synthetic animals: docs/notebook.md's ablation.

usage: ablation.py PARTWISE OUT [--seeds 11 12 13] [--cells arms|terms|published|grid|extras|guard|assignment|loudness ...] [--jobs 1] [--device cpu]

For every seed: data, a backbone trained on other images, then one run per cell, all measured on held-out images. Finished runs are
kept: run again, it goes on. Prints Markdown: mean over the seeds and, between seeds, the 95 % t-interval's half width.
"""
import argparse
import concurrent.futures
import itertools
import json
import math
import pathlib
import subprocess

T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
ARMS = {arm: {"arm": arm} for arm in ("ordinary", "ordinary+layer", "masked")}
GRID = {
    f"{rule}, {peak}, {beta} beta, {layers}": {"rule": rule, "peak": peak, "beta-rule": beta, "layers": layers}
    for rule, peak, beta, layers in itertools.product(
        ("release", "paper", "exact"), ("argmax", "centroid"), ("fixed", "learned"), ("both", "first", "new"))
}
PAPER = {"rule": "paper", "exponent": "raw", "misfits": "reversed", "balance": "none", "schedule": "inverse"}
RELEASE = {"rule": "release", "exponent": "raw", "misfits": "reversed", "schedule": "inverse", "peak": "centroid",
           "beta-rule": "learned", "mask-place": "after-pooling"}
EXTRAS = {
    "former default": {},
    "raw exponent": {"exponent": "raw"},
    "paper, raw exponent": {"rule": "paper", "exponent": "raw"},
    "misfits reversed": {"misfits": "reversed"},
    "no balance": {"balance": "none"},
    "round (L2) template": {"template-shape": "l2"},
    "beta 3": {"beta": "3"},
    "beta 6": {"beta": "6"},
    "mask after pooling": {"mask-place": "after-pooling"},
    "share of the layer's gradient": {"strength-unit": "layer-share"},
    "linear schedule": {"schedule": "linear"},
    "1/t schedule": {"schedule": "inverse", "strength": "0.05"},
    "as the paper says, share 0.015": PAPER,
    "as the paper says, lambda 1 x E[max x] / t": {**PAPER, "strength-unit": "peak", "strength": "1"},
    "as the release does, share 0.015": RELEASE,
    "as the release does, lambda 1e-6 / t": {**RELEASE, "strength-unit": "absolute", "strength": "1e-6"},
    "as the release does, lambda 1e-3 / t": {**RELEASE, "strength-unit": "absolute", "strength": "1e-3"},
}
GUARD = {
    f"strength {strength}, guard {guard}": {"strength": str(strength), "guard": guard}
    for strength, guard in itertools.product((0.015, 0.05, 0.15, 0.5), ("on", "off"))
}
ASSIGNMENT = {
    f"{assignment} assignment, strength {strength}, {schedule}, guard {guard}":
        {"assignment": assignment, "strength": str(strength), "schedule": schedule, "guard": guard}
    for assignment, strength, schedule, guard in itertools.product(
        ("relative", "absolute"), (0.015, 0.03, 0.05, 0.15), ("linear", "constant"), ("on", "off"))
}
LOUDNESS = {
    f"strength {strength}, loudness {loudness}": {"strength": str(strength), "loudness": loudness}
    for strength, loudness in itertools.product((0.05, 0.015), ("free", "kept"))
}
TERMS = {  # of the default (decision 0017), one changed at a time
    "default": {},
    "without the vote": {"vote": "0"},
    "vote 1": {"vote": "1"},
    "without keep-alive": {"keep-alive": "0"},
    "assignment absolute": {"assignment": "absolute"},
    "loudness free": {"loudness": "free"},
    "misfits ignored": {"misfits": "ignored"},
    "weights without limit": {"weight-limit": "0"},
    "strength 0.015": {"strength": "0.015"},
    "strength 0.045": {"strength": "0.045"},
    "guard off": {"guard": "off"},
    "masks fade in over 0.3": {"mask-warmup": "0.3"},
    "masked, masks fade in over 0.3": {"arm": "masked", "mask-warmup": "0.3"},
    "new layer 1x1": {"new-kernel": "1"},
    "masked, new layer 1x1": {"arm": "masked", "new-kernel": "1"},
}
PUBLISHED = {f"method {method}": {"method": method} for method in ("paper", "release")}
# What the cells below were measured around: the default before decision 0017.
FORMER = {"assignment": "absolute", "strength": "0.015", "loudness": "free", "vote": "0", "keep-alive": "0", "misfits": "ignored"}


def former(cells):
    return {name: {**FORMER, **settings} for name, settings in cells.items()}


CELLS = {"arms": ARMS, "terms": TERMS, "published": PUBLISHED, "loudness": former(LOUDNESS), "assignment": former(ASSIGNMENT),
         "grid": former(GRID), "extras": former(EXTRAS), "guard": former(GUARD)}


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def folder_name(cell):
    return "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in cell)


def prepare(options, seed):
    folder = options.out / f"seed-{seed}"
    device = ["--device", options.device, "--threads", options.threads]
    if not (folder / "data").exists():
        call(options.partwise, "data", "synth", folder / "data", "--images", options.images, "--test-share", "0.2222",
             "--seed", seed, "--threads", options.threads)
        call(options.partwise, "data", "synth", folder / "other", "--images", options.images * 2 // 3, "--test-share", "0",
             "--seed", 1000 + seed, "--threads", options.threads)
    call(options.partwise, "train", folder / "other", folder / "backbone", "--arm", "ordinary", "--epochs", "8",
         "--seed", seed, "--resume", *device)


def run_cell(options, seed, name, settings):
    folder = options.out / f"seed-{seed}"
    run = folder / folder_name(name)
    if (run / "findings.json").exists():
        return
    device = ["--device", options.device, "--threads", options.threads]
    flags = itertools.chain.from_iterable((f"--{key}", value) for key, value in settings.items())
    try:
        call(options.partwise, "train", folder / "data", run, "--init", folder / "backbone", "--epochs", "6",
             "--seed", seed, "--resume", *flags, *device)
        call(options.partwise, "measure", run, *device, "--resamples", "200")
    except RuntimeError as error:
        print(f"FAILED {error}", flush=True)


def run_all(options, cells):
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda seed: prepare(options, seed), options.seeds))
        jobs = [(seed, name) for name in cells for seed in options.seeds]
        list(pool.map(lambda job: run_cell(options, job[0], job[1], cells[job[1]]), jobs))


def spread(values):
    mean = sum(values) / len(values)
    if len(values) < 2:
        return f"{mean:.3f}"
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return f"{mean:.3f} ± {T95[len(values) - 1] * deviation / math.sqrt(len(values)):.3f}"


def row(options, name):
    found = []
    for seed in options.seeds:
        run = options.out / f"seed-{seed}" / folder_name(name)
        if (run / "findings.json").exists():
            last = json.loads((run / "log.jsonl").read_text().splitlines()[-1])
            found.append((json.loads((run / "findings.json").read_text()), last))
    if not found:
        return f"| {name} | no run finished |"
    def of(layer, key):
        return [findings["layers"][layer].get(key, {}).get("value", math.nan) for findings, _ in found]

    centre = [findings["layers"][-1]["part_interpretability"]["controls"]["constant_centre"] for findings, _ in found]
    columns = [[findings["accuracy"]["value"] for findings, _ in found], of(0, "purity"), of(0, "silent_share"), of(0, "effective_filters"),
               of(0, "part_interpretability"), of(-1, "part_interpretability"), centre, of(0, "instability_ratio"),
               of(-1, "instability_ratio"), of(-1, "smallest_category_share")]
    softening = [layer["softening"] for _, last in found for layer in last["layers"]]
    return f"| {name} | " + " | ".join(map(spread, columns)) + f" | {min(softening, default=1):.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("partwise", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    parser.add_argument("--cells", nargs="+", choices=sorted(CELLS), default=["arms", "grid"])
    parser.add_argument("--images", type=int, default=900)
    parser.add_argument("--jobs", type=int, default=1, help="0: only print what is there")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    options.partwise = options.partwise.resolve()
    cells = {name: settings for group in options.cells for name, settings in CELLS[group].items()}
    if options.jobs > 0:
        run_all(options, cells)
    columns = ["cell", "accuracy", "purity₁", "silent₁", "effective filters₁", "part interpretability₁", "₂", "constant centre₂",
               "D / D_shuffle₁", "₂", "smallest category share₂", "guard, least"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for name in cells:
        print(row(options, name))


if __name__ == "__main__":
    main()
