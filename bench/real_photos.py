#!/usr/bin/env python3
"""Photographs of one animal against none, or of several at once, four arms: docs/notebook.md's table.

usage: real_photos.py PARTWISE DATA WEIGHTS OUT [--nets squeezenet1-1 vgg-16] [--categories fox cat all] [--seeds 1 2 3] [--jobs 1] [--device cpu]

Category `all`: every category of DATA at once, softmax. Arm `former`: interpretable, by the default before decision 0017.
DATA: Animal-Part as `partwise data import` writes it; WEIGHTS: a folder with NET.safetensors (squeezenet1_1, vgg16). Every run takes
configs/real-photos.json and what --set adds. Measured twice: on held-out images (accuracy, purity, D / D_shuffle) and on every annotated
crop (D / D_shuffle, as in the paper, with the training images in it). Finished runs are kept: run again, it goes on. Prints Markdown:
mean over the seeds and, between seeds, the 95 % t-interval's half width.
"""
import argparse
import concurrent.futures
import itertools
import json
import math
import pathlib
import shutil
import subprocess

ARMS = ("ordinary", "ordinary+layer", "masked", "former", "interpretable")
FORMER = ["--arm", "interpretable", "--assignment", "absolute", "--vote", "0", "--keep-alive", "0", "--misfits", "ignored"]
FILES = {"squeezenet1-1": "squeezenet1_1", "vgg-16": "vgg16"}
NARROW = {"vgg-16": ["--hidden", "512"]}
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776}
CONFIG = pathlib.Path(__file__).resolve().parent.parent / "configs" / "real-photos.json"


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def folder_of(options, cell):
    return options.out / "-".join(map(str, cell)).replace("+", "-")


def run_cell(options, cell):
    net, category, arm, seed = cell
    run = folder_of(options, cell)
    if all((run / f"{split}.json").exists() for split in options.splits):
        return
    task = ["--task", "multi", "--loss", "softmax"] if category == "all" else ["--task", f"binary:{category}", "--loss", "logistic"]
    kind = FORMER if arm == "former" else ["--arm", arm]
    device = ["--device", options.device, "--threads", options.threads, "--cache", options.out / "crops"]
    try:
        call(options.partwise, "train", options.data, run, "--config", CONFIG, "--net", net, *kind, "--seed", seed,
             "--init", options.weights / f"{FILES.get(net, net)}.safetensors", *task, "--precision", options.precision,
             "--resume", *NARROW.get(net, []), *device, *itertools.chain.from_iterable(("--set", word) for word in options.set))
        for split in options.splits:
            call(options.partwise, "measure", run, "--split", split, "--resamples", "300", "--json", run / f"{split}.json", *device)
    except RuntimeError as error:
        print(f"FAILED {error}", flush=True)
        return
    if not options.keep:
        shutil.rmtree(run / "checkpoints")


def findings(options, cell, split):
    path = folder_of(options, cell) / f"{split}.json"
    return next(iter(json.loads(path.read_text()).values())) if path.exists() else None  # by run


def spread(values):
    if not values:
        return ""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return f"{mean:.3f}"
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return f"{mean:.3f} ± {T95[len(values) - 1] * deviation / math.sqrt(len(values)):.3f}"


def row(options, net, category, arm):
    cells = [(net, category, arm, seed) for seed in options.seeds]
    test, every = ([found for cell in cells if (found := findings(options, cell, split))] for split in ("test", "all"))

    def of(found, layer, key):
        return [value for one in found if len(one["layers"]) > layer
                if (value := one["layers"][layer].get(key, {}).get("value")) is not None]

    centre = [one["layers"][1]["part_interpretability"]["controls"]["constant_centre"] for one in test if len(one["layers"]) > 1]
    columns = [[one["accuracy"]["value"] for one in test], of(test, 0, "purity"), of(test, 0, "silent_share"),
               of(test, 1, "smallest_category_share"), of(test, 1, "part_interpretability"), centre, of(test, 0, "instability_ratio"),
               of(test, 1, "instability_ratio"), of(every, 1, "instability_ratio")]
    return f"| {net} | {category} | {arm} | " + " | ".join(map(spread, columns)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("partwise", "data", "weights", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--nets", nargs="+", default=["squeezenet1-1", "vgg-16"])
    parser.add_argument("--categories", nargs="+", default=["fox", "cat"])
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--splits", nargs="+", choices=("test", "all"), default=["test", "all"])
    parser.add_argument("--set", nargs="*", default=[], help="key=value, over the config's")
    parser.add_argument("--jobs", type=int, default=1, help="0: only print what is there")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--keep", action="store_true", help="keep the checkpoints")
    options = parser.parse_args()
    options.partwise = options.partwise.resolve()
    cells = [cell[1:] + cell[:1] for cell in itertools.product(options.seeds, options.nets, options.categories, options.arms)]
    if options.jobs > 0:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(lambda cell: run_cell(options, cell), cells))
    columns = ["net", "category", "arm", "accuracy", "purity₁", "silent₁", "smallest category share₂", "part interpretability₂",
               "constant centre₂", "D / D_shuffle₁", "₂", "₂, all crops"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for net, category, arm in itertools.product(options.nets, options.categories, options.arms):
        print(row(options, net, category, arm))


if __name__ == "__main__":
    main()
