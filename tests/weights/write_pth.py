#!/usr/bin/env python3
"""usage: write_pth.py FOLDER: .pth files as PyTorch writes them, and beside them what every tensor holds: expected.txt lists file,
name, type, shape and the file of raw bytes. Exits 77 where there is no PyTorch."""
import collections
import pathlib
import sys

try:
    import torch
except ImportError:
    sys.exit(77)

folder = pathlib.Path(sys.argv[1])
torch.manual_seed(1)
TYPES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
         torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL"}
lines = []


def expect(file, name, tensor):
    plain = tensor.detach().contiguous()
    raw = plain.view(torch.int16) if plain.dtype == torch.bfloat16 else plain
    path = folder / f"{len(lines)}.raw"
    path.write_bytes(raw.numpy().tobytes())
    shape = ",".join(map(str, plain.shape)) or "-"
    lines.append(f"{file} {name} {TYPES[plain.dtype]} {shape} {path.name}\n")


net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Linear(5, 2))
for protocol in (2, 3, 4, 5):
    torch.save(net.state_dict(), folder / f"net{protocol}.pth", pickle_protocol=protocol)
    for name, tensor in net.state_dict().items():
        expect(f"net{protocol}.pth", name, tensor)

base = torch.arange(60, dtype=torch.float32).reshape(3, 4, 5)
odd = collections.OrderedDict(
    transposed=base.transpose(0, 2), sliced=base[1:, ::2, 1:4], expanded=torch.tensor([7.0]).expand(3, 4), scalar=torch.tensor(2.5),
    empty=torch.zeros(0, 3), shared=base.view(-1)[10:20], last=torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
    parameter=torch.nn.Parameter(torch.randn(4)))
for dtype, word in TYPES.items():
    odd["type." + word] = (torch.randn(7) * 3).to(dtype)
torch.save(odd, folder / "odd.pth")
for name, tensor in odd.items():
    expect("odd.pth", name, tensor)

optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
torch.save({"epoch": 90, "arch": "net", "best": 0.5, "optimizer": optimizer.state_dict(), "state_dict": net.state_dict()},
           folder / "checkpoint.pth")
for name, tensor in net.state_dict().items():
    expect("checkpoint.pth", name, tensor)

torch.save(net.state_dict(), folder / "legacy.pth", _use_new_zipfile_serialization=False)
torch.save(net, folder / "module.pth")
(folder / "expected.txt").write_text("".join(lines))
