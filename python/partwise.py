"""The interpretable layer and the measures of Partwise, for a network and a loop of your own.

    parts = partwise.Interpretable(filters=256, side=14, categories=20)
    y = parts(torch.relu(conv(x)), labels)     # train(): the mask and the filter loss
    y = parts(torch.relu(conv(x)))             # eval(): the mask; no labels are needed

The filter loss has no value to add to yours: it acts in the backward pass of your task loss, on the gradient that arrives
at the maps. docs/api.md has the whole contract, docs/examples/own_loop.py a program. What is wrong with maps, labels or
options is a RuntimeError of one line.
"""
import json
import pathlib

import torch

_library = pathlib.Path(__file__).resolve().parent / "libpartwise_torch.so"
if not _library.exists():
    raise ImportError(f"{_library} is missing: partwise.py lies beside the library it loads, in build/release/python or where "
                      "`make install` put both")
torch.ops.load_library(str(_library))

# The rest, without a memory of its own. maps [rows, filters, n, n] after ReLU; docs/metrics.md says what the numbers mean.
peak_cells = torch.ops.partwise.peak_cells  # (maps, centroid=False) -> [rows, filters]: cell i * n + j of each map's part
mask = torch.ops.partwise.mask  # (maps, beta=4.0, centroid=False, round=False) -> maps times their masks
purity = torch.ops.partwise.purity  # (maps, resamples=1000, seed=1) -> {"value", "low", "high", controls}
filter_categories = torch.ops.partwise.filter_categories  # (maps, labels, categories) -> [filters]
# (maps, offset, stride, input_side, parts, labels, filter_category, resamples=1000, seed=1)
#   -> {"value", "low", "high", controls}, each filter's, its best part
part_interpretability = torch.ops.partwise.part_interpretability


class Interpretable(torch.nn.Module):
    """The layer, to be put behind the ReLU of a convolution with `filters` maps of side x side.

    options: those of the program by their names in options.json (`partwise train --help`), e.g. method="paper", strength=0.1.
    labels [batch] int64: 0 .. categories - 1, or -1 for an image of none of them (a binary task: 0 and -1, one category).
    What it learns from training batches are buffers: state_dict, to, copy.deepcopy and torch.save take them along.
    """

    def __init__(self, filters, side, categories, **options):
        super().__init__()
        self._layer = torch.classes.partwise.Interpretable(filters, side, categories, json.dumps(options))
        self._show_buffers()

    def forward(self, maps, labels=None, before_relu=()):
        """before_relu: what the ReLU was given, one tensor or several whose filters follow one another; with it the vote and
        keep_alive also reach units that the ReLU has closed."""
        if not self.training:
            return self._layer.mask(maps)
        if not torch.is_tensor(labels):
            raise RuntimeError("Interpretable: training needs labels, a tensor; eval() does not")
        return self._layer.forward(maps, labels, [before_relu] if torch.is_tensor(before_relu) else list(before_relu))

    def mask(self, maps):
        """As in eval(): looks without learning."""
        return self._layer.mask(maps)

    def filter_category(self):
        """The category each filter stands for, [filters] int64."""
        return self._layer.filter_category()

    def filter_beta(self):
        return self._layer.filter_beta()

    def set_strength_factor(self, factor):
        """Multiplies options["strength"] from here on: what a schedule calls before each epoch."""
        self._layer.set_strength_factor(factor)

    def set_mask_share(self, share):
        """How much of the mask is in force in training from here on."""
        self._layer.set_mask_share(share)

    def set_category_shares(self, shares):
        """The share of each category among all training images, for balance="dataset"."""
        self._layer.set_category_shares(list(shares))

    def take_diagnostics(self):
        """What happened since the last look, by name (docs/runs.md, "layers" in log.jsonl), as a dict of numbers."""
        return dict(self._layer.take_diagnostics())

    @property
    def options(self):
        return json.loads(self._layer.options())

    def extra_repr(self):
        line = self._layer.describe()
        return line[line.index("(") + 1:-1]

    # The buffers are the layer's own tensors: they are written to and never replaced.
    def _show_buffers(self):
        for name, tensor in self._layer.buffers().items():
            self._buffers[name] = tensor

    def _apply(self, function, *more, **named):
        self._layer.buffers()  # waits for what a GPU still writes to them
        for tensor in self._buffers.values():
            moved = function(tensor)  # half types leave the statistics alone, but for the device
            wide = moved.dtype in (torch.float32, torch.float64)
            tensor.data = moved if wide else tensor.to(moved.device)
        return self

    def _save_to_state_dict(self, *to):
        self._layer.buffers()
        super()._save_to_state_dict(*to)

    def _load_from_state_dict(self, state, prefix, metadata, *more):
        self._layer.buffers()
        super()._load_from_state_dict(state, prefix, {**metadata, "assign_to_params_buffers": False}, *more)

    def __getstate__(self):
        return {**self.__dict__, "_buffers": type(self._buffers)()}  # the layer keeps them

    def __setstate__(self, state):
        super().__setstate__(state)
        self._show_buffers()
