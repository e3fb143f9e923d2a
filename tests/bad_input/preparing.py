"""The steps that put a row's input in place, and the bytes of small files of foreign formats."""
import io
import json
import os
import pathlib
import shutil
import struct
import zipfile
import zlib


def given(name, content=b""):
    """A file with these bytes, text or JSON."""
    def step(place, _):
        path = place / name if isinstance(name, str) else pathlib.Path(os.fsdecode(os.fsencode(place) + b"/" + name))
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content if isinstance(content, str) else json.dumps(content)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return step


def folder(name):
    return lambda place, _: (place / name).mkdir(parents=True)


def copied(what, name):
    """A copy of something the rows share: animals, run, dump, weights, photo."""
    def step(place, shared):
        source = pathlib.Path(shared.names[what])
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, place / name)
    return step


def first_of(place, pattern):
    return sorted(place.glob(pattern))[0]


def cut(pattern, keep):
    """The first file that fits keeps this many bytes; negative: all but so many."""
    def step(place, _):
        path = first_of(place, pattern)
        path.write_bytes(path.read_bytes()[:keep])
    return step


def flipped(pattern, at):
    """One byte of the first file that fits is turned over, at this share of its length."""
    def step(place, _):
        path = first_of(place, pattern)
        data = bytearray(path.read_bytes())
        data[int(at * (len(data) - 1))] ^= 0xFF
        path.write_bytes(data)
    return step


def each(pattern, step_of):
    """The same step for every file that fits."""
    def step(place, shared):
        for path in sorted(place.glob(pattern)):
            step_of(str(path.relative_to(place)))(place, shared)
    return step


def removed(pattern):
    def step(place, _):
        path = first_of(place, pattern)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return step


def linked(name, target):
    return lambda place, _: os.symlink(target, place / name)


def pipe(name):
    return lambda place, _: os.mkfifo(place / name)


def mode(pattern, bits):
    return lambda place, _: first_of(place, pattern).chmod(bits)


def changed(name, change):
    """A JSON file after `change(value)`, by hand: without its checksum."""
    def step(place, _):
        path = place / name
        value = json.loads(path.read_text())
        if isinstance(value, dict):
            value.pop("checksum", None)
        change(value)
        path.write_text(json.dumps(value))
    return step


def png(width=8, height=8, rows=None):
    """A grey PNG; `rows` in place of as many as it says it has."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    lines = b"".join(b"\0" + bytes((7 * x + 13 * y) % 256 for x in range(width)) for y in range(height if rows is None else rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(lines)) +
            chunk(b"IEND", b""))


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def floats(shape, values=None):
    count = 1
    for side in shape:
        count *= side
    return struct.pack(f"<{count}f", *(values or [0.5] * count))


def zipped(**members):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return target.getvalue()


def matlab5(body=b""):
    return b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + b"\x00\x01IM" + body


def matlab73(body=b""):
    return (b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\x00\x02IM").ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n" + body


def coco(**changes):
    """Two photographs, one object each."""
    image = [{"id": 1, "file_name": "a.png", "width": 8, "height": 8}, {"id": 2, "file_name": "b.png", "width": 8, "height": 8}]
    objects = [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 8, 8]}, {"id": 2, "image_id": 2, "category_id": 1, "bbox": [1, 1, 4, 4]}]
    return {"images": image, "annotations": objects, "categories": [{"id": 1, "name": "fox"}], **changes}


CUB = {"images.txt": "1 a/a.png\n2 a/b.png\n", "image_class_labels.txt": "1 1\n2 1\n", "classes.txt": "1 001.Fox\n",
       "bounding_boxes.txt": "1 0 0 8 8\n2 0 0 8 8\n", "train_test_split.txt": "1 1\n2 0\n", "parts/parts.txt": "1 beak\n",
       "parts/part_locs.txt": "1 1 3 3 1\n2 1 4 4 1\n"}


def cub(**changes):
    """CUB-200-2011 with two photographs; a file by the first word of its name, None: absent."""
    def step(place, shared):
        for name, text in CUB.items():
            text = changes.get(pathlib.Path(name).stem, text)
            if text is not None:
                given("cub/" + name, text)(place, shared)
        for name in ("a", "b"):
            given(f"cub/images/a/{name}.png", png())(place, shared)
    return step
