#!/usr/bin/env python3
"""Fails if a file includes a room that its CMakeLists.txt does not list under USES, or if the lists form a cycle."""
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
        uses[call[1]] = set(listed[1].split()) if listed else set()

wrong = []
try:
    list(graphlib.TopologicalSorter(uses).static_order())
except graphlib.CycleError as error:
    wrong.append("rooms form a cycle: " + " -> ".join(error.args[1]))
for file in rooms.rglob("*"):
    if file.suffix not in {".h", ".cpp", ".cu", ".cuh"}:
        continue
    room = file.relative_to(rooms).parts[0]
    for line, text in enumerate(file.read_text().splitlines(), 1):
        target = re.match(r'#include "partwise/(\w+)/', text)
        if target and target[1] != room and target[1] not in uses[room]:
            wrong.append(f"{file}:{line}: {room} must not include {target[1]}")
        door = re.match(r'#include "partwise/(\w+)\.h"', text)
        if door and owner[door[1]] != room and owner[door[1]] not in uses[room]:
            wrong.append(f"{file}:{line}: {room} must not include {owner[door[1]]}")
        if re.match(r"#include <(torch|ATen|c10)/", text) and room != "tensors":
            wrong.append(f"{file}:{line}: LibTorch enters through partwise/tensors/ only")
for file in public.iterdir():
    for line, text in enumerate(file.read_text().splitlines(), 1):
        if re.match(r'#include "partwise/\w+/', text):
            wrong.append(f"{file}:{line}: a public header must not include a room")
print("\n".join(wrong))
sys.exit(bool(wrong))
