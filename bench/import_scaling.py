#!/usr/bin/env python3
"""Time and memory of imports against the number of images and the size of the annotation file.

    bench/import_scaling.py build/release/partwise [OTHER_PARTWISE] [--scratch DIR] [--images 10000] [--json-megabytes 200]

Draws synthetic animals, imports a quarter, half and all of them as class folders and as COCO, then COCO annotation
files of growing size whose images are nearly all absent (only the file counts there). With a second program both run
in turn on the same input. Peak memory is the largest resident set, mapped files included.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time


def measured(command):
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    words = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, words
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def class_folders(dataset, folder, count):
    names = {category["id"]: category["name"] for category in dataset["categories"]}
    shown = {object["image_id"]: names[object["category_id"]] for object in dataset["annotations"]}
    for image in dataset["images"][:count]:
        source = dataset["folder"] / image["file_name"]
        target = folder / shown.get(image["id"], "negatives")
        target.mkdir(parents=True, exist_ok=True)
        os.link(source, target / source.name)


def coco_file(dataset, folder, count):
    kept = dataset["images"][:count]
    ids = {image["id"] for image in kept}
    objects = [object for object in dataset["annotations"] if object["image_id"] in ids]
    for image in kept:
        target = folder / image["file_name"]
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(dataset["folder"] / image["file_name"], target)
    (folder / "annotations.json").write_text(
        json.dumps({"images": kept, "categories": dataset["categories"], "annotations": objects}))


def large_file(dataset, folder, megabytes):
    """As COCO's instances_train2017.json: seven objects an image, outlines of forty points."""
    draw = random.Random(1)
    folder.mkdir()
    present = dataset["images"][0]
    (folder / present["file_name"]).parent.mkdir(parents=True)
    os.link(dataset["folder"] / present["file_name"], folder / present["file_name"])
    images, size, number = [dict(present, id=0)], 0, 0
    with open(folder / "annotations.json", "w") as file:
        file.write('{"annotations":[')
        while size < megabytes * 1e6:
            for _ in range(7):
                outline = [round(draw.uniform(0, present["width"]), 2) for _ in range(80)]
                text = json.dumps({"id": number, "image_id": len(images) - 1, "category_id": 1, "iscrowd": 0,
                                   "area": 100.5, "bbox": [1, 1, 50, 50], "segmentation": [outline]})
                file.write(("," if number else "") + text)
                size += len(text)
                number += 1
            images.append({"id": len(images), "file_name": f"absent{len(images)}.jpg", "width": 100, "height": 100})
        file.write(f'],"categories":[{{"id":1,"name":"thing"}}],"images":{json.dumps(images)}}}')


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("programs", nargs="+", type=pathlib.Path)
    arguments.add_argument("--scratch")
    arguments.add_argument("--images", type=int, default=10000)
    arguments.add_argument("--json-megabytes", type=int, default=200)
    given = arguments.parse_args()
    programs = [program.resolve() for program in given.programs]
    with tempfile.TemporaryDirectory(dir=given.scratch) as scratch:
        scratch = pathlib.Path(scratch)
        drawn = scratch / "drawn"
        subprocess.run([programs[0], "data", "synth", drawn, "--images", str(-(-given.images // 6)), "--size", "128"],
                       check=True, stdout=subprocess.DEVNULL)
        dataset = json.loads((drawn / "dataset.json").read_text())
        random.Random(1).shuffle(dataset["images"])
        dataset["folder"] = drawn
        print("| import | input | program | seconds | CPU seconds | peak memory, MB |\n|---|---|---|---|---|---|")

        def row(name, what, source, form):
            for program in programs:
                out = scratch / "out"
                seconds, cpu, peak = measured([program, "data", "import", form, source, out, "--threads", 2])
                shutil.rmtree(out)
                label = "this" if program == programs[0] else "other"
                print(f"| {name} | {what} | {label} | {seconds:.1f} | {cpu:.1f} | {peak:.0f} |", flush=True)

        for count in (given.images // 4, given.images // 2, given.images):
            for form, write in (("folder", class_folders), ("coco", coco_file)):
                source = scratch / f"{form}{count}"
                write(dataset, source, count)
                row(form, f"{count} images", source, form)
        for megabytes in (given.json_megabytes // 4, given.json_megabytes // 2, given.json_megabytes):
            source = scratch / f"large{megabytes}"
            large_file(dataset, source, megabytes)
            row("coco, images absent", f"{megabytes} MB of JSON", source, "coco")
            shutil.rmtree(source)


main()
