#!/usr/bin/env python3
"""Fails if a file includes a room that its CMakeLists.txt does not list under USES, if rooms or units (foo.h with
foo.cpp) include each other in a circle, if two headers share a name, if LibTorch enters outside tensors/, or if a
public header includes a room."""
import collections
import graphlib
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[1]
rooms = root / "src/partwise"
public = root / "include/partwise"
owner = {"error": "base", "part_options": "parts", "interpretable": "parts", "measure": "tensor_metrics"}
uses = {}
for lists in rooms.glob("*/CMakeLists.txt"):
    call = re.search(r"partwise_room\(\s*(\w+)(.*?)\)", lists.read_text(), re.S)
    if call:
        listed = re.search(r"USES([\w\s]*?)(LINKS|$)", call[2])
        uses[call[1]] = set(listed[1].split()) - {"CLAIMS"} if listed else set()

wrong = []
units = collections.defaultdict(set)
headers = collections.defaultdict(list)


def check_circles(graph, what):
    try:
        list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        wrong.append(f"{what} include each other in a circle: " + " -> ".join(error.args[1]))


for file in sorted(path for path in rooms.rglob("*") if path.suffix in {".h", ".cpp", ".cu", ".cuh"}):
    room = file.relative_to(rooms).parts[0]
    unit = str(file.relative_to(rooms).with_suffix(""))
    if file.suffix == ".h":
        headers[file.name].append(str(file.relative_to(rooms)))
    for line, text in enumerate(file.read_text().splitlines(), 1):
        target = re.match(r'#include "partwise/([\w/]+)\.h"', text)
        if target:
            first, _, rest = target[1].partition("/")
            target_room = first if rest else owner[first]
            if target_room != room and target_room not in uses[room]:
                wrong.append(f"{file}:{line}: {room} must not include {target_room}")
            if target[1] != unit:
                units[unit].add(target[1])
        if re.match(r"#include <(torch|ATen|c10)/", text) and room != "tensors":
            wrong.append(f"{file}:{line}: LibTorch enters through partwise/tensors/ only")
for file in public.iterdir():
    for line, text in enumerate(file.read_text().splitlines(), 1):
        if re.match(r'#include "partwise/\w+/', text):
            wrong.append(f"{file}:{line}: a public header must not include a room")
check_circles(uses, "rooms")
check_circles(units, "units")
wrong += [f"one name for two headers: {', '.join(places)}" for places in headers.values() if len(places) > 1]
print("\n".join(wrong))
sys.exit(bool(wrong))
