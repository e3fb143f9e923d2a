#!/usr/bin/env python3
"""check_levels.py BUILD: fails if code compiled for AVX2 or AVX-512 defines a function that the linker may take for all levels:
a machine without these instructions would then be given it. Each such file may share its table's name alone."""
import pathlib
import re
import subprocess
import sys

objects = sorted(path for path in pathlib.Path(sys.argv[1]).rglob("*.o") if re.search(r"_avx\d+\.cpp\.o$", path.name))
wrong = [] if objects else ["no object files of AVX2 or AVX-512 kernels"]
for path in objects:
    for line in subprocess.run(["nm", "-C", "--defined-only", path], check=True, capture_output=True, text=True).stdout.splitlines():
        kind, name = line.split(maxsplit=2)[1:]
        if kind in "WT" and not re.search(r"partwise::\w+::(\w+_)?avx\d+_\w+", name):
            wrong.append(f"{path.name}: {kind} {name}")
print("\n".join(wrong))
sys.exit(bool(wrong))
