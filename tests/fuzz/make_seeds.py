#!/usr/bin/env python3
"""usage: make_seeds.py READER FOLDER: small good files from which a fuzz program starts, made with the standard library only."""
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


made = {"pickle": pickles, "zip": archives, "safetensors": tensors, "mat5": matlab,
        "weights": lambda: archives() + tensors() + matlab()}[reader]()
for number, data in enumerate(made):
    (folder / str(number)).write_bytes(data)
