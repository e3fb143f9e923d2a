#!/usr/bin/env python3
"""usage: write_safetensors.py FILE: a safetensors file made from the format's description, with the standard library only."""
import json
import struct
import sys

arrays = [
    ("half", "F16", [3], struct.pack("<3e", 0.5, -65504.0, 2.0**-24)),
    ("kernel", "F32", [2, 3, 2, 2],
     b"".join(struct.pack("<f", struct.unpack("<f", struct.pack("<f", i / 7))[0] - 1.5) for i in range(24))),
    ("empty", "BF16", [0, 4], b""),
    ("steps", "I64", [1], struct.pack("<q", -1)),
    ("double", "F64", [], struct.pack("<d", 0.1)),
]
header = {"__metadata__": {"made by": "struct and json, größe"}}
data = b""
for name, dtype, shape, packed in arrays:
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
    data += packed
text = json.dumps(header).encode()  # neither padded nor aligned, as the format allows
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
