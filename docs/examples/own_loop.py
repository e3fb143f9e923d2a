#!/usr/bin/env python3
"""A loop of your own with an interpretable layer: one line behind a convolution's ReLU.

    PYTHONPATH=build/release/python python3 docs/examples/own_loop.py [STEPS]
"""
import sys

import partwise
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 5, stride=2, padding=2)
        self.conv2 = nn.Conv2d(16, 24, 3, padding=1)
        self.parts = partwise.Interpretable(filters=24, side=14, categories=2)  # <- the interpretable layer
        self.out = nn.Linear(24, 2)

    def maps(self, x):
        return torch.relu(self.conv2(torch.relu(self.conv1(x))))

    def forward(self, x, labels=None):
        masked = self.parts(self.maps(x), labels)
        return self.out(masked.amax((2, 3)))


def draw(labels):
    """A blob on noise, upright or lying, somewhere: images [count, 3, 28, 28]."""
    rows, columns = torch.meshgrid(torch.arange(28.0), torch.arange(28.0), indexing="ij")
    centre = torch.randint(6, 22, (len(labels), 2, 1, 1))
    tall = torch.where(labels == 0, 3.0, 1.0).reshape(-1, 1, 1)
    blob = torch.exp(-((rows - centre[:, 0]) / tall) ** 2 - ((columns - centre[:, 1]) / (4 - tall)) ** 2)
    return 0.2 * torch.randn(len(labels), 3, 28, 28) + blob.unsqueeze(1)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    torch.manual_seed(1)
    net = Net()
    print(net)
    optimizer = torch.optim.Adam(net.parameters(), 0.001)
    for step in range(1, steps + 1):
        labels = torch.randint(2, (32,))
        loss = nn.functional.cross_entropy(net(draw(labels), labels), labels)
        optimizer.zero_grad()
        loss.backward()  # the filter loss acts here
        optimizer.step()
        if step % max(steps // 4, 1) == 0:
            seen = net.parts.take_diagnostics()
            shown = ("loss", "gradient_ratio", "effective_samples", "softening", "dead_share")
            print(f"step {step}: task loss {loss.item():.3f};", ", ".join(f"{name} {seen[name]:.3f}" for name in shown))
    net.eval()
    with torch.no_grad():
        labels = torch.randint(2, (200,))
        images = draw(labels)
        right = (net(images).argmax(1) == labels).float().mean().item()
        purity = partwise.purity(net.maps(images))
    print(f"accuracy {right:.3f}; filters per category {net.parts.filter_category().bincount(minlength=2).tolist()}")
    print(f"purity {purity['value']:.3f} [{purity['low']:.3f}, {purity['high']:.3f}], scattered {purity['scattered']:.3f}")


main()
