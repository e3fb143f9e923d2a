#!/usr/bin/env python3
"""usage: make_seeds.py READER FOLDER: small good files from which a fuzz program starts, made with the standard library only."""
import base64
import json
import pathlib
import struct
import sys
import zipfile
import zlib

reader, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value


def integer(value):
    return b"J" + struct.pack("<i", value)


def numbers(*values):
    return b"(" + b"".join(map(integer, values)) + b"t"


def tensor(offset, shape, strides, kind=b"FloatStorage", count=12):
    storage = b"(" + text(b"storage") + b"ctorch\n" + kind + b"\n" + text(b"0") + text(b"cpu") + integer(count) + b"tQ"
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + integer(offset) + numbers(*shape) + numbers(*strides) +
            b"\x89ccollections\nOrderedDict\n)RtR")


def pickles():
    one = tensor(0, [3, 4], [4, 1])
    state = (b"\x80\x02ccollections\nOrderedDict\n)R(" + text(b"conv.weight") + one + text(b"conv.bias") +
             tensor(3, [2, 2], [6, 2]) + b"u}" + text(b"_metadata") + b"}sb.")
    shell = (b"\x80\x04\x95\0\0\0\0\0\0\0\0}\x94(\x8c\x0astate_dict\x94}\x94\x8c\x01w" + one + b"s\x8c\x05epochK\x5a\x8c\x02lrG" +
             struct.pack(">d", 0.1) + b"\x8c\x01l](\x88\x89NM\x01\x02\x8a\x01\x05\x85\x86eu.")
    parameter = b"\x80\x02}q\x01(" + text(b"p") + b"ctorch._utils\n_rebuild_parameter\n(" + one + b"\x88NtRq\x02" + text(b"q") + b"h\x02u."
    stack = b"\x80\x04\x8c\x0bcollections\x8c\x0bOrderedDict\x93)R\x8c\x01hC\x02ab" + b"s."
    half = b"\x80\x02}" + text(b"h") + tensor(1, [2, 1, 5], [5, 9, 1], b"HalfStorage", 24) + b"s."
    return [state, shell, parameter, stack, half]


def archive(pickle):
    path = folder / "scratch.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("net/data.pkl", pickle)
        file.writestr("net/byteorder", "little")
        file.writestr("net/data/0", struct.pack("<12f", *range(12)))
        file.writestr("net/version", "3\n")
    data = path.read_bytes()
    path.unlink()
    return data


def archives():
    plain = archive(pickles()[0])
    end = plain.rindex(b"PK\5\6")
    count, size, offset = struct.unpack("<HII", plain[end + 10:end + 20])
    large = (plain[:end] + b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, offset) + b"PK\6\7" +
             struct.pack("<IQI", 0, end, 1) + plain[end:])
    return [archive(pickle) for pickle in pickles()] + [large]


def tensors():
    files = []
    for arrays, metadata in (([("a", "F32", [2, 3], 24), ("b", "BF16", [0], 0), ("c", "I64", [], 8)], {"net": "tiny"}),
                             ([("x", "F8_E4M3", [3], 3), ("y", "BOOL", [1, 1], 1), ("z", "F16", [2], 4)], None)):
        header, at = {}, 0
        if metadata:
            header["__metadata__"] = metadata
        for name, dtype, shape, size in arrays:
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
            at += size
        packed = json.dumps(header).encode()
        files.append(struct.pack("<Q", len(packed)) + packed + bytes(range(at)))
    return files


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def matrix(flags, extents, name, rest):
    sizes = struct.pack(f"<{len(extents)}i", *extents)
    return element(14, element(6, struct.pack("<II", flags, 0)) + element(5, sizes) + element(1, name) + rest)


def word(value):
    return matrix(4, [1, len(value)], b"", element(16, value))


def single(extents, values):
    return matrix(7, extents, b"", element(7, struct.pack(f"<{len(values)}f", *values)))


def cells(*values):
    return matrix(1, [1, len(values)], b"", b"".join(values))


def structure(name, fields, *rows):
    names = b"".join(field.ljust(16, b"\0") for field in fields)
    return matrix(2, [1, len(rows)], name, element(5, struct.pack("<i", 16)) + element(1, names) + b"".join(sum(rows, [])))


def matlab():
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    conv = structure(b"", [b"name", b"type", b"weights"],
                     [word(b"conv1"), word(b"conv"), cells(single([2, 1, 1, 2], [1, 2, 3, 4]), matrix(6, [1, 2], b"", element(2, b"\1\2")))])
    meta = structure(b"", [b"normalization", b"classes"],
                     [structure(b"", [b"averageImage", b"border"], [single([1, 1, 3], [1, 2, 3]), single([1, 2], [4, 5])]),
                      structure(b"", [b"name"], [cells(word(b"cat"), word(b"dog"))])])
    simple = structure(b"net", [b"layers", b"meta"], [cells(conv), meta])
    dag = structure(b"net", [b"params"], [structure(b"", [b"name", b"value"], [word(b"f"), single([2, 2, 1, 3], range(12))],
                                                    [word(b"b"), single([3, 2], range(6))])])
    packed = zlib.compress(dag)
    return [header + simple, header + dag, header + struct.pack("<II", 15, len(packed)) + packed]


# 16 x 12 pixels each, by Pillow: baseline, progressive, grey and turned by EXIF.
JPEGS = (
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H////6/+b9//j/"
    "2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wAARCAAMABADASIAAhEBAxEB/8QA"
    "HwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkK"
    "FhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXG"
    "x8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAEC"
    "AxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE"
    "hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwCikHtVlLf2"
    "qxGi+lWY0X0rBSuFGsz/2Q==",
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H////6/+b9//j/"
    "2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wgARCAAMABADASIAAhEBAxEB/8QA"
    "FAABAAAAAAAAAAAAAAAAAAAAA//EABUBAQEAAAAAAAAAAAAAAAAAAAAD/9oADAMBAAIQAxAAAAEERZv/xAAXEAEBAQEAAAAAAAAAAAAAAAAAARES/9oACAEB"
    "AAEFAscoj//EABURAQEAAAAAAAAAAAAAAAAAAAIA/9oACAEDAQE/AQ7/xAAVEQEBAAAAAAAAAAAAAAAAAAAAEf/aAAgBAgEBPwGv/8QAFBABAAAAAAAAAAAA"
    "AAAAAAAAIP/aAAgBAQAGPwIf/8QAFRABAQAAAAAAAAAAAAAAAAAAAQD/2gAIAQEAAT8hKQEC/9oADAMBAAIAAwAAABBr/8QAFREBAQAAAAAAAAAAAAAAAAAA"
    "AAH/2gAIAQMBAT8Qo//EABYRAAMAAAAAAAAAAAAAAAAAAAABEf/aAAgBAgEBPxBUf//EABYQAQEBAAAAAAAAAAAAAAAAAABRYf/aAAgBAQABPxDNkiRP/9k=",
    "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZ"
    "lo+AjIqgtObDoKrarYqMyP/L2u71////m8H////6/+b9//j/wAALCAAMABABAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgED"
    "AwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZn"
    "aGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEB"
    "AAA/AKKQe1WUt/arEaL6VZjRfSv/2Q==")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(depth, colour, channels, interlaced=0, extra=b""):
    row = b"\0" + bytes(range(5 * channels * depth // 8))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 5, 3, depth, colour, 0, 0, interlaced)) + extra +
            chunk(b"IDAT", zlib.compress(row * 3)) + chunk(b"IEND", b""))


def pictures():
    pngs = [png(8, 2, 3), png(8, 0, 1), png(16, 6, 4), png(8, 4, 2), png(8, 3, 1, extra=chunk(b"PLTE", bytes(range(96))) + chunk(b"tRNS", b"\0\x80"))]
    return [picture + b"\x11\x22" for picture in [*map(base64.b64decode, JPEGS), *pngs]]


def tiff():
    entry = struct.pack("<HHIHH", 0x112, 3, 1, 6, 0)
    small = b"II*\0" + struct.pack("<IH", 8, 1) + entry + bytes(4)
    large = b"MM\0*" + struct.pack(">IH", 8, 2) + struct.pack(">HHIHH", 0x10F, 2, 4, 1, 2) + struct.pack(">HHIHH", 0x112, 3, 1, 8, 0) + bytes(4)
    return [small, large]


def datasets():
    mask = {"size": [64, 64], "counts": "jl12m12O0O00MWN1l1OWg1"}
    whole = {"info": {"format": "partwise part-dataset", "version": 1, "seed": 1},
             "images": [{"id": 1, "file_name": "images/a.png", "width": 64, "height": 64}, {"id": 2, "file_name": "images/b.png", "width": 9, "height": 8}],
             "categories": [{"id": 1, "name": "fox", "parts": ["head", "ears"], "landmarks": ["nose", "feet"]}],
             "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 11.0, 38.0, 42.0], "iscrowd": 0, "area": 9.0, "segmentation": mask,
                              "landmarks": {"nose": [1.5, 2], "feet": [[3, 4], [5.5, 6]]}, "parts": {"ears": {"segmentation": mask, "bbox": [30, 23, 6, 6]}}}],
             "splits": {"train": [1], "test": [2]}}
    return [json.dumps(whole).encode(), json.dumps({**whole, "annotations": []}).encode()]


def coco():
    whole = {"images": [{"id": 7, "file_name": "a.jpg", "width": 64, "height": 64}],
             "categories": [{"id": 3, "name": "cat", "keypoints": ["nose", "ear"]}],
             "annotations": [{"id": 1, "image_id": 7, "category_id": 3, "bbox": [1, 2, 30, 40], "iscrowd": 0, "area": 9, "num_keypoints": 1,
                              "keypoints": [5, 6, 2, 0, 0, 0], "segmentation": [[1, 1, 9, 1, 9, 9]]},
                             {"id": 2, "image_id": 7, "category_id": 3, "bbox": [1, 2, 30, 40], "iscrowd": 1, "segmentation": {"size": [64, 64], "counts": "04"}}]}
    return [json.dumps(whole).encode()]


def findings():
    number = {"value": 0.5, "low": 0.25, "high": 0.75, "controls": {"chance": 0.1}}
    whole = {"format": 1, "net": "tiny", "arm": "masked", "task": "multi", "loss": "softmax", "split": "test", "checkpoint": "last", "rows": 4, "train_rows": 9,
             "training_images": 0, "categories": ["fox"], "classes": ["fox"], "options": {}, "data_hash": "0", "accuracy": number, "confusion": [[1, 2], [3, 4]],
             "draws": {"file": "draws.safetensors", "hash": "0"},
             "layers": [{"layer": "new", "role": "new layer", "side": 4, "filters": 2, "input_side": 112, "dead_share": 0.5, "filters_per_category": {"fox": 2},
                         "purity": {**number, "layer": "new"},
                         "cards": [{"filter": 1, "category": "fox", "part": "head", "chosen": "best", "ratio": None, "picture": "pictures/a.png", "picture_alt": "x"}]}]}
    return [json.dumps(whole).encode()]


def options():
    return [json.dumps(one).encode() for one in (
        {"method": "paper", "strength": 0.5, "guard": False}, {"rule": "release", "schedule": "constant", "vote": 1},
        {"protocol": "clean", "test_share": 0.2, "seed": 3}, {"images": 12, "categories": 2, "size": 64}, {"attack_images": 2, "attack_steps": 3})]


def requests():
    head = b"Host: localhost\r\nX-Partwise: 1\r\n"
    photo = png(8, 2, 3)
    return [b"GET /api/runs?a=1&b=%20 HTTP/1.1\r\n" + head + b"\r\n", b"HEAD /%2e%2e/x HTTP/1.0\r\nHost: localhost\r\nCookie: partwise=1; a=b\r\n\r\n",
            b"PUT /api/x HTTP/1.1\r\n" + head + b"Content-Length: 7\r\n\r\n{\"a\":1}", b"POST /p HTTP/1.1\r\n" + head + b"Content-Length: %d\r\n\r\n" % len(photo) + photo,
            b"POST /p HTTP/1.1\r\n" + head + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
            b"POST /p HTTP/1.1\r\n" + head + b"Expect: 100-continue\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"]


def values():
    """What a child process hands over of a MATLAB 7.3 file: of a value kind, type, extents, bytes, text, fields, items."""
    def number(*values):
        return struct.pack(f"<{len(values)}Q", *values)

    def counted(data):
        return number(len(data)) + data

    def value(kind, extents, data=b"", text=b"", fields=(), items=()):
        return (number(kind, 0, len(extents), *extents) + counted(data) + counted(text) + number(len(fields)) + b"".join(map(counted, fields)) +
                number(len(items)) + b"".join(items))

    numbers = value(1, [1, 2], struct.pack("<2d", 1, 2))
    word = value(2, [1, 3], text=b"fox")
    foxes = value(4, [2, 1], fields=[b"name", b"at"], items=[word, numbers, word, value(1, [0, 0])])
    return [counted(b"x") + numbers, counted(b"foxes") + foxes + counted(b"c") + value(3, [1, 2], items=[word, value(5, [])])]


made = {"mat73_values": values, "pickle": pickles, "zip": archives, "safetensors": tensors, "mat5": matlab, "weights": lambda: archives() + tensors() + matlab(),
        "image": pictures, "exif": tiff, "dataset": datasets, "coco": coco, "findings": findings, "options": options, "http": requests,
        "mat73": lambda: [b"\0\2\0\xff", bytes(range(32))]}[reader]()
for number, data in enumerate(made):
    (folder / str(number)).write_bytes(data)
