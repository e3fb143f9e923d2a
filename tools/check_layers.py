#!/usr/bin/env python3
"""Fails if a file includes a room that its CMakeLists.txt does not list under USES, if rooms or units (foo.h with
foo.cpp) include each other in a circle, if two headers share a name, or if LibTorch enters outside tensors/."""
import collections
import graphlib
import pathlib
import re
import sys

source = pathlib.Path(__file__).resolve().parents[1] / "src"
rooms = source / "partwise"
uses = {}
for lists in rooms.glob("*/CMakeLists.txt"):
    call = re.search(r"partwise_room\(\s*(\w+)(.*?)\)", lists.read_text(), re.S)
    if call:
        listed = re.search(r"USES([\w\s]*?)(LINKS|$)", call[2])
        uses[call[1]] = set(listed[1].split()) - {"CLAIMS"} if listed else set()

wrong = []


def check_circles(graph, what):
    try:
        list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        wrong.append(f"{what} include each other in a circle: " + " -> ".join(error.args[1]))


check_circles(uses, "rooms")
units = collections.defaultdict(set)
headers = collections.defaultdict(list)
for file in sorted(rooms.rglob("*")):
    if file.suffix not in {".h", ".cpp", ".cu", ".cuh"} or file.parent == rooms:  # the public door is no room
        continue
    room = file.relative_to(rooms).parts[0]
    unit = str(file.relative_to(source).with_suffix(""))
    if file.suffix == ".h":
        headers[file.name].append(str(file.relative_to(source)))
    for line, text in enumerate(file.read_text().splitlines(), 1):
        target = re.match(r'#include "(partwise/(\w+)/[\w/]+)\.h"', text)
        if target and target[2] != room and target[2] not in uses[room]:
            wrong.append(f"{file}:{line}: {room} must not include {target[2]}")
        if target and target[1] != unit:
            units[unit].add(target[1])
        if re.match(r"#include <(torch|ATen|c10)/", text) and room != "tensors":
            wrong.append(f"{file}:{line}: LibTorch enters through partwise/tensors/ only")
check_circles(units, "units")
wrong += [f"one name for two headers: {', '.join(places)}" for places in headers.values() if len(places) > 1]
print("\n".join(wrong))
sys.exit(bool(wrong))
