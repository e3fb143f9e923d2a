#!/usr/bin/env python3
"""Training steps on a GPU: our arms beside PyTorch's eager mode, in turn.

usage: gpu_steps.py PARTWISE FOLDER [--nets squeezenet1-1 vgg-16] [--batches 32 64 128 256] [--arms ordinary ordinary+layer interpretable]
                    [--repeats 2] [--images 9216] [--more OPTION...]

FOLDER gets synthetic animals, six categories, and the runs. Ours is `partwise train` as a user calls it, bf16: crops from the cache,
augmentation and transfer included; images per second over the epochs in which every step is a replay, by the run's own log. An epoch is
divided evenly: with 9216 images every step holds as many as the batch size says. Eager is the ordinary arm written with torch.nn: channels
last, autocast to bfloat16, cudnn.benchmark, SGD with its foreach updates, images already on the GPU, nothing read back. Prints Markdown:
medians over the repeats, in brackets the range.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import time

import torch
from torch import nn

WARM = 60  # steps: filters are assigned until the 48th, then a step is recorded
RECORDS = 8  # more steps before the clock starts: one is run twice before it is recorded; of two sizes where batches do not divide the images
TIMED = 160  # steps


def fire(inside, squeeze, expand):
    class Fire(nn.Module):
        def __init__(self):
            super().__init__()
            self.squeeze = nn.Conv2d(inside, squeeze, 1)
            self.one, self.three = nn.Conv2d(squeeze, expand, 1), nn.Conv2d(squeeze, expand, 3, padding=1)

        def forward(self, x):
            x = torch.relu(self.squeeze(x))
            return torch.cat([torch.relu(self.one(x)), torch.relu(self.three(x))], 1)

    return Fire()


def eager_net(net, outputs):
    if net == "squeezenet1-1":
        pool = lambda: nn.MaxPool2d(3, 2)
        features = [nn.Conv2d(3, 64, 3, 2), nn.ReLU(), pool(), fire(64, 16, 64), fire(128, 16, 64), pool(), fire(128, 32, 128), fire(256, 32, 128),
                    pool(), fire(256, 48, 192), fire(384, 48, 192), fire(384, 64, 256), fire(512, 64, 256), pool(), nn.Flatten()]
        widths = [512 * 6 * 6, 512]
    else:
        features, channels = [], 3
        for block in ((64, 64), (128, 128), (256,) * 3, (512,) * 3, (512,) * 3):
            for width in block:
                features += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
                channels = width
            features.append(nn.MaxPool2d(2, 2))
        features.append(nn.Flatten())
        widths = [512 * 7 * 7, 4096, 4096]
    for before, after in zip(widths, widths[1:]):
        features += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(0.5)]
    return nn.Sequential(*features, nn.Linear(widths[-1], outputs))


def eager(net, batch, steps=40):
    torch.backends.cudnn.benchmark = True
    model = eager_net(net, 6).cuda().to(memory_format=torch.channels_last)
    update = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9, weight_decay=5e-4)
    images = torch.randn(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 6, (batch,), device="cuda")

    def step():
        update.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = nn.functional.cross_entropy(model(images).float(), labels)
        loss.backward()
        update.step()

    for _ in range(15):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    rate = batch * steps / (time.perf_counter() - start)
    del model, update, images
    torch.cuda.empty_cache()
    return rate


def ours(options, net, batch, arm):
    run = options.folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    per_epoch = -(-options.images // batch)
    before = -(-(WARM + RECORDS) // per_epoch)  # every epoch ends with a checkpoint, which is not timed but takes its time
    epochs = before + -(-TIMED // per_epoch)
    subprocess.run([options.partwise, "train", options.folder / "data", run, "--net", net, "--arm", arm, "--batch", str(batch), "--epochs", str(epochs), "--task", "multi",
                    "--loss", "softmax", "--optimizer", "sgd", "--learning-rate", "0.001", "--precision", "bf16", "--device", "cuda", "--cache", options.folder / "crops",
                    "--jitter", "8", *options.more], check=True, capture_output=True, text=True)
    rows = [json.loads(line) for line in open(run / "log.jsonl")][before:]
    return options.images * len(rows) / sum(row["seconds"] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("partwise")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--nets", nargs="+", default=["squeezenet1-1", "vgg-16"])
    parser.add_argument("--batches", nargs="+", type=int, default=[32, 64, 128, 256])
    parser.add_argument("--arms", nargs="+", default=["ordinary", "ordinary+layer", "interpretable"])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--images", type=int, default=9216)
    parser.add_argument("--more", nargs="*", default=[], help="more options of train")
    options = parser.parse_args()
    if not (options.folder / "data").exists():
        per_category = -(-options.images * 5 // 4 // 6)  # a fifth is kept for testing
        subprocess.run([options.partwise, "data", "synth", options.folder / "data", "--images", str(per_category), "--test-share", "0.2"], check=True, capture_output=True)
    records = json.load(open(options.folder / "data" / "dataset.json"))
    shown = {row["image_id"] for row in records["annotations"]}
    options.images = sum(image in shown for image in records["splits"]["train"])  # softmax leaves out negatives
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {options.images} images of 224 x 224, images/s\n")
    print("| net, batch | eager, ordinary | " + " | ".join(f"ours, {arm}" for arm in options.arms) + " | interpretable step / ordinary+layer step | ours, interpretable / eager, ordinary |")
    print("|---" * (len(options.arms) + 4) + "|")
    for net in options.nets:
        for batch in options.batches:
            found = {"eager": []} | {arm: [] for arm in options.arms}
            for _ in range(options.repeats):
                found["eager"].append(eager(net, batch))
                for arm in options.arms:
                    found[arm].append(ours(options, net, batch, arm))
            middle = {name: statistics.median(rates) for name, rates in found.items()}
            cells = [f"{middle[name]:,.0f} [{min(rates):,.0f}, {max(rates):,.0f}]" for name, rates in found.items()]
            step = middle.get("ordinary+layer", 0) / middle.get("interpretable", 1)
            print(f"| {net}, {batch} | " + " | ".join(cells) + f" | {step:.3f} | {middle.get('interpretable', 0) / middle['eager']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
