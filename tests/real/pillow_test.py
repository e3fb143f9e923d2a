#!/usr/bin/env python3
"""Crops of real photographs against Pillow: decode, turn, crop, resize, end to end.

    pillow_test.py PARTWISE WRITE_CROPS      PARTWISE_REAL_DATA names the photographs; exits 77 (skipped) without Pillow
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    from PIL import Image, ImageOps
except ImportError:
    print("skipped: comparing crops with Pillow needs python3-pil and python3-numpy")
    sys.exit(77)
if "PARTWISE_REAL_DATA" not in os.environ:
    print("skipped: PARTWISE_REAL_DATA is not set")
    sys.exit(77)

PARTWISE, WRITE_CROPS = sys.argv[1:]
REAL = pathlib.Path(os.environ["PARTWISE_REAL_DATA"])


def rounded(value):
    return math.floor(value + 0.5)


def window(box, width, height):
    """The crop rule in its own words: edges rounded to whole pixels and cut off at the image."""
    def edges(start, extent, size):
        first = min(rounded(min(max(start, 0), size)), size - 1)
        return first, max(rounded(min(max(start + extent, 0), size)), first + 1)
    left, right = edges(box[0], box[2], width)
    top, bottom = edges(box[1], box[3], height)
    return left, top, right, bottom


def seen_by_pillow(path):
    image = ImageOps.exif_transpose(Image.open(path))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, image).convert("RGB")
    return image.convert("RGB")


def compare(folder, side, scratch):
    """Differences in grey levels of all crops made from every pixel, and of those decoded at a fraction."""
    out = scratch / "crops.bin"
    subprocess.run([WRITE_CROPS, folder, str(side), out], check=True)
    crops = numpy.fromfile(out, numpy.uint8).reshape(-1, 3, side, side)
    dataset = json.loads((folder / "dataset.json").read_text())
    objects = {}
    for annotation in dataset["annotations"]:
        objects.setdefault(annotation["image_id"], []).append(annotation["bbox"])
    exact, reduced, row = [], [], 0
    for record in dataset["images"]:
        image = seen_by_pillow(folder / record["file_name"])
        assert image.size == (record["width"], record["height"]), record
        for box in objects.get(record["id"], [[0, 0, *image.size]]):
            part = window(box, *image.size)
            theirs = numpy.asarray(image.crop(part).resize((side, side), Image.BILINEAR)).transpose(2, 0, 1)
            difference = numpy.abs(theirs.astype(int) - crops[row])
            row += 1
            large = min(part[2] - part[0], part[3] - part[1]) // side >= 6 and record["file_name"].endswith(".jpg")
            (reduced if large else exact).append((difference.mean(), difference.max(), record["file_name"]))
    assert row == len(crops), (row, len(crops))
    return exact, reduced


def modes(photo, folder):
    """One photograph in every way a file may hold it."""
    picture = Image.open(photo).convert("RGB").resize((150, 101))
    place = folder / "thing"
    place.mkdir(parents=True)
    picture.convert("L").save(place / "grey.jpg", quality=95)
    picture.convert("L").save(place / "grey.png")
    picture.convert("CMYK").save(place / "inks.jpg", quality=95)
    picture.convert("P", palette=Image.ADAPTIVE).save(place / "palette.png")
    picture.save(place / "progressive.jpg", quality=90, progressive=True)
    picture.save(place / "fine.jpg", quality=90, subsampling=0)
    veil = picture.convert("RGBA")
    veil.putalpha(picture.convert("L"))
    veil.save(place / "alpha.png")
    veil.convert("LA").save(place / "grey_alpha.png")
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        picture.save(place / f"turned{orientation}.jpg", quality=90, exif=exif)


def report(name, found):
    if not found:
        return
    worst = max(found, key=lambda item: item[1])
    print(f"{name}: {len(found)} crops, mean difference {numpy.mean([item[0] for item in found]):.3f}, "
          f"largest {worst[1]} ({worst[2]})")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        photo = sorted((REAL / "voc-part" / "JPEGImages").glob("*.jpg"))[0]
        modes(photo, scratch / "original")
        cases = [("folder", scratch / "original", (64,)), ("voc-part", REAL / "voc-part", (224,)),
                 ("cub200", REAL / "cub200", (224, 32)), ("animal-part", REAL / "animal-part", (224,))]
        for name, source, sides in cases:
            folder = scratch / ("imported-" + name)
            subprocess.run([PARTWISE, "data", "import", name, source, folder], check=True, capture_output=True)
            for side in sides:
                exact, reduced = compare(folder, side, scratch)
                report(f"{name}, {side} x {side}", exact)
                report(f"{name}, {side} x {side}, decoded at a fraction", reduced)
                assert max(item[1] for item in exact) <= 1
                assert all(item[0] < 1.5 for item in reduced)
                assert not reduced or numpy.mean([item[0] for item in reduced]) < 0.6


main()
