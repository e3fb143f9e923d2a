#!/usr/bin/env python3
"""The interpretable layer in Python's torch: partwise.py and libpartwise_torch.so.

    layer_test.py FOLDER WRITE_LAYER_CASE EXAMPLE     FOLDER holds both; exits 77 (skipped) without torch for Python
"""
import copy
import io
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import unittest

FOLDER, WRITE_LAYER_CASE, EXAMPLE = sys.argv[1:]
try:
    import torch
except ImportError:
    print(f"skipped: {sys.executable} has no torch (Debian: python3-torch)")
    sys.exit(77)
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import partwise  # noqa: E402

torch.set_num_threads(1)
BATCH, FILTERS, SIDE, CATEGORIES, STEPS = 6, 8, 7, 3, 5
LABELS = torch.arange(BATCH) % (CATEGORIES + 1) - 1


def scattered(step=0):
    """The maps of write_layer_case.cpp."""
    at = torch.arange(BATCH * FILTERS * SIDE * SIDE)
    number = (at * at * 31 + at * (7919 + 2 * step) + 101 * step) % 1009 - 504
    return (number.to(torch.float32) / 256).reshape(BATCH, FILTERS, SIDE, SIDE)


def a_layer(**options):
    return partwise.Interpretable(FILTERS, SIDE, CATEGORIES, **options)


def train(layer, steps=STEPS, first=0):
    for step in range(first, first + steps):
        before = scattered(step).to(next(layer.buffers()).dtype)
        maps = torch.relu(before).requires_grad_()
        masked = layer(maps, LABELS)
        (masked * before).sum().backward()
    return maps, masked


class Layer(unittest.TestCase):
    def assert_same(self, one, other):
        self.assertEqual(list(one), list(other))
        for name in one:
            self.assertTrue(torch.equal(one[name], other[name]), name)

    def assert_refused(self, words, act):
        with self.assertRaises(RuntimeError) as caught:
            act()
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_equals_the_layer_of_the_program_to_the_last_bit(self):
        for options in ({}, {"method": "paper"}, {"method": "release"}, {"strength": 0.0}, {"rule": "exact", "beta": 3}):
            run = subprocess.run([WRITE_LAYER_CASE, json.dumps(options)], check=True, capture_output=True, text=True)
            expected = json.loads(run.stdout)
            layer = a_layer(**options)
            maps, masked = train(layer)
            buffers = expected.pop("buffers")
            self.assertEqual(sorted(buffers), sorted(layer.state_dict()))
            found = {"masked": masked, "gradient": maps.grad, "category": layer.filter_category(), "beta": layer.filter_beta(),
                     "seen": copy.deepcopy(layer).eval()(maps)}
            self.assertEqual(layer.take_diagnostics()["gradient_ratio"], expected.pop("gradient_ratio"))
            for name, numbers in {**expected, **buffers}.items():
                # What was never seen is -inf, which JSON calls null.
                ours = found.get(name, layer.state_dict().get(name)).detach().double().flatten().tolist()
                theirs = [float("-inf") if number is None else number for number in numbers]
                self.assertEqual(ours, theirs, f"{name} with {options}")

    def test_mask_is_the_papers(self):
        maps = torch.relu(scattered())
        cells = torch.arange(SIDE * SIDE)
        peak = maps.flatten(2).argmax(2, keepdim=True)
        steps = (cells // SIDE - peak // SIDE).abs() + (cells % SIDE - peak % SIDE).abs()
        expected = maps * (1 - 4.0 * steps / SIDE).clamp_min(0).reshape(maps.shape)
        torch.testing.assert_close(partwise.mask(maps), expected)
        torch.testing.assert_close(a_layer().eval()(maps), expected)
        self.assertTrue(torch.equal(partwise.peak_cells(maps), peak.squeeze(2)))

    def test_gradient_of_the_masked_maps(self):
        # A map's cells differ by 1/256 at least: gradcheck's steps of 1e-6 move no peak.
        cells = torch.arange(3 * 4 * SIDE * SIDE, dtype=torch.float64).reshape(3, 4, SIDE, SIDE)
        maps = ((cells * 37 % 1009 + 1) / 256).requires_grad_()
        layer = partwise.Interpretable(4, SIDE, CATEGORIES, strength=0.0).double()
        self.assertTrue(torch.autograd.gradcheck(lambda x: layer(x, LABELS[:3]), maps))
        self.assertTrue(torch.autograd.gradcheck(layer.mask, maps))
        self.assertTrue(torch.autograd.gradcheck(partwise.mask, maps))

    def test_backward_adds_the_push(self):
        pushed, _ = train(a_layer(strength=0.05, vote=0.0, keep_alive=0.0), 1)
        plain, _ = train(a_layer(strength=0.0), 1)
        added = (pushed.grad - plain.grad).flatten(2).transpose(0, 1).flatten(1).norm(dim=1)
        task = plain.grad.flatten(2).transpose(0, 1).flatten(1).norm(dim=1)
        # filter-share: each filter's push is 5 % of its task gradient; float32 leaves six digits of the difference's size.
        torch.testing.assert_close(added / task, torch.full_like(task, 0.05), rtol=1e-3, atol=0)
        silenced = a_layer(strength=0.05)
        silenced.set_strength_factor(0.0)
        self.assertTrue(torch.equal(train(silenced, 1)[0].grad, plain.grad))

    def test_units_closed_by_the_relu_are_reached_through_before_relu(self):
        before = (scattered() - 3).requires_grad_()  # nearly everything is closed
        layer = a_layer(vote=1.0)
        layer(torch.relu(before), LABELS, before).sum().backward()
        self.assertGreater(before.grad[before < 0].abs().sum().item(), 0)

    def test_state_dict_makes_the_same_layer(self):
        layer, other = a_layer(), a_layer()
        train(layer, 20)
        saved = copy.deepcopy(layer.state_dict())
        other.load_state_dict(saved)
        self.assert_same(other.state_dict(), saved)
        self.assertTrue(torch.equal(train(layer, 40, 20)[0].grad, train(other, 40, 20)[0].grad))  # past the last assignment
        self.assert_same(layer.state_dict(), other.state_dict())
        with self.assertRaises(RuntimeError):
            partwise.Interpretable(FILTERS + 1, SIDE, CATEGORIES).load_state_dict(saved)

    def test_copies_go_on_by_themselves(self):
        layer = a_layer(method="paper", strength=0.5)
        layer.set_strength_factor(0.25)
        train(layer, 20)
        saved = io.BytesIO()
        torch.save(layer, saved)
        saved.seek(0)
        whole = {"weights_only": False} if int(torch.__version__.split(".")[0]) >= 2 else {}
        copies = [copy.deepcopy(layer), torch.load(saved, **whole), pickle.loads(pickle.dumps(layer))]
        expected = train(layer, 40, 20)[0].grad
        for other in copies:
            self.assertNotEqual(other.batches.data_ptr(), layer.batches.data_ptr())
            self.assertTrue(torch.equal(train(other, 40, 20)[0].grad, expected))
            self.assert_same(layer.state_dict(), other.state_dict())
            self.assertEqual(other.options, layer.options)

    def test_conversions_reach_the_layer(self):
        network = torch.nn.Sequential(torch.nn.Conv2d(1, FILTERS, 1), a_layer())
        network.double()
        layer = network[1]
        self.assertEqual(layer.peak_scale.dtype, torch.float64)
        train(layer, 1)
        self.assertGreater(layer.peak_scale.sum().item(), 0)
        network.half()
        self.assertEqual(layer.peak_scale.dtype, torch.float64)
        self.assertEqual(next(network.parameters()).dtype, torch.float16)

    def test_eval_learns_nothing(self):
        layer = a_layer()
        train(layer)
        known = copy.deepcopy(layer.state_dict())
        maps = torch.relu(scattered(9))
        self.assertTrue(torch.equal(layer.eval()(maps), layer.mask(maps)))
        self.assert_same(layer.state_dict(), known)

    def test_a_share_of_the_mask(self):
        layer, maps = a_layer(strength=0.0), torch.relu(scattered())
        layer.set_mask_share(0.5)
        torch.testing.assert_close(layer(maps, LABELS), (maps + layer.mask(maps)) / 2)

    def test_diagnostics_and_measures_are_plain_numbers(self):
        layer = a_layer()
        maps, masked = train(layer)
        seen = layer.take_diagnostics()
        self.assertAlmostEqual(seen["loss"], -seen["prior_entropy"] + seen["category_entropy"] + seen["spatial_entropy"], places=6)
        self.assertAlmostEqual(seen["gradient_ratio"], layer.options["strength"], places=2)
        self.assertEqual(layer.take_diagnostics()["gradient_ratio"], 0)  # counted anew
        found = partwise.purity(maps.detach())
        self.assertLessEqual(found["low"], found["value"])
        self.assertIn("scattered", found)
        shown = LABELS >= 0
        categories = partwise.filter_categories(maps.detach()[shown], LABELS[shown], CATEGORIES)
        self.assertEqual(categories.shape, (FILTERS,))
        parts = torch.zeros(int(shown.sum()), 1, 28, 28, dtype=torch.bool)
        parts[..., 8:20, 8:20] = True
        found, filters, best = partwise.part_interpretability(masked.detach()[shown], 2.0, 4.0, 28, parts, LABELS[shown], categories,
                                                              resamples=50)
        self.assertTrue(0 <= found["value"] <= 1)
        self.assertEqual((filters.shape, best.shape), ((FILTERS,), (FILTERS,)))

    def test_what_is_wrong_is_said_in_one_line(self):
        layer, maps = a_layer(), torch.relu(scattered())
        self.assert_refused("a label is 3; valid: 0 to 2, and -1", lambda: layer(maps, LABELS + 1))
        self.assert_refused("a label is -2", lambda: layer(maps, LABELS - 1))
        self.assert_refused("training needs labels", lambda: layer(maps))
        self.assert_refused("labels are Float", lambda: layer(maps, LABELS.float()))
        self.assert_refused("expected numbers of shape [batch, 8, 7, 7]", lambda: layer(maps[:, :3], LABELS))
        self.assert_refused("5 labels for 6 maps", lambda: layer(maps, LABELS[:5]))
        self.assert_refused("did you mean 'strength'?", lambda: a_layer(strenght=1))
        self.assert_refused("valid: paper, paper-all, release, exact", lambda: a_layer(rule="papier"))
        self.assert_refused("outside [0.001, 100]", lambda: a_layer(beta=0))
        self.assert_refused("each must be 1 or more", lambda: partwise.Interpretable(0, SIDE, CATEGORIES))
        self.assert_refused("expected numbers of shape [batch, filter, n, n]", lambda: partwise.mask(maps[0]))

    def test_the_lines_of_the_page_run(self):
        page = (pathlib.Path(EXAMPLE).parents[1] / "api.md").read_text()
        blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", page)
        self.assertEqual(len(blocks), 1)
        own = {"torch": torch, "conv": torch.nn.Conv2d(3, 24, 3), "x": torch.rand(4, 3, 16, 16), "labels": torch.tensor([0, 1, -1, 0])}
        exec(blocks[0], own)
        self.assertEqual(own["y"].shape, (4, 24, 14, 14))
        own["y"].sum().backward()

    def test_the_example_runs(self):
        run = subprocess.run([sys.executable, "-B", EXAMPLE, "30"], env={**os.environ, "PYTHONPATH": FOLDER}, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("gradient_ratio", run.stdout)
        self.assertIn("purity", run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
