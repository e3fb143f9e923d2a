#!/usr/bin/env python3
"""Trains the backbone that `partwise demo --quick` starts from, and writes it as it is kept in backbones/.

  tools/make_backbone.py build/release/partwise FOLDER backbones/tiny.safetensors

FOLDER holds data and run, and may be removed afterwards; run again, it goes on where it stopped. The images are drawn by
the one seed that `demo` refuses, so no demo's images, least of all its test images, are among them. Training takes about
five minutes on two cores; another machine or LibTorch rounds otherwise and gives other bytes, and a backbone as good.
"""
import json
import pathlib
import struct
import subprocess
import sys

SEED = 2**63 - 1  # kBackboneSeed in src/partwise/experiments/carried_backbone.h
DRAW = ["--images", "1500", "--categories", "6", "--size", "128", "--test-share", "0", "--seed", str(SEED)]
TRAIN = ["--net", "tiny", "--arm", "ordinary", "--epochs", "10", "--seed", "1"]


def read_safetensors(path):
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        yield name, entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", raw[begin:end])


def write_safetensors(path, arrays, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, shape, values in arrays:
        half = struct.pack(f"<{len(values)}e", *values)
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [len(data), len(data) + len(half)]}
        data += half
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def main():
    program, folder, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    animals, run, whole = folder / "animals", folder / "run", folder / "whole.safetensors"
    resume = ["--resume"] if run.exists() else []
    commands = [["data", "synth", str(animals), *DRAW], ["train", str(animals), str(run), *TRAIN, *resume],
                ["export", str(run), "--out", str(whole)]]
    for command in commands:
        subprocess.run([program, *command], check=True)
    kept = [one for one in read_safetensors(whole) if one[0].startswith(("conv", "norm"))]
    made = "partwise data synth " + " ".join(DRAW) + "; partwise train " + " ".join(TRAIN)
    write_safetensors(out, sorted(kept), {"made": made})
    digest = 0xCBF29CE484222325  # FNV-1a, as base/files.h content_hash
    for byte in out.read_bytes():
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    print(f"{out}: {out.stat().st_size} bytes, hash {digest:016x} (kBackboneHash)")


if __name__ == "__main__":
    main()
