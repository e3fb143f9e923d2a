#!/usr/bin/env python3
"""What the README promises, through the program: the filter loss makes filters purer. Small, one fixed seed; without the loss
nothing of the effect is left."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PARTWISE = sys.argv.pop(1)


class Effect(unittest.TestCase):
    def run_program(self, *words):
        done = subprocess.run([PARTWISE, *words], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def compared(self, first, second):
        self.run_program("compare", first, second, "--json", "compared.json")
        lines = json.loads((self.folder / "compared.json").read_text())["comparisons"]
        return {(line["layer"], line["metric"]): line for line in lines}

    def test_is_the_filter_losses_and_vanishes_without_it(self):
        with tempfile.TemporaryDirectory() as place:
            self.folder = pathlib.Path(place)
            self.run_program("data", "synth", "animals", "--images", "80", "--categories", "3", "--size", "64", "--seed", "5")
            for run, more in {"masked": ["--arm", "masked"], "interpretable": [], "no-loss": ["--strength", "0"]}.items():
                self.run_program("train", "animals", run, "--epochs", "4", "--seed", "5", *more)
                self.run_program("measure", run)
            effect = self.compared("masked", "interpretable")
            for layer in ("top layer of the backbone", "new layer"):
                purity = effect[layer, "purity"]
                self.assertEqual(purity["verdict"], "higher", purity)
                self.assertGreater(purity["low"], 0.02, purity)  # the interval ends well above 0
            weights = [(self.folder / run / "checkpoints" / "last.safetensors").read_bytes() for run in ("masked", "no-loss")]
            self.assertEqual(*weights)
            for line in self.compared("masked", "no-loss").values():
                self.assertIn(line["difference"], (0, None), line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
