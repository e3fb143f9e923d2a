#!/usr/bin/env python3
"""`partwise reproduce` from end to end, very small: what it leaves, that it goes on, what it refuses."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

PARTWISE = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background has it ignored, for the program too


class Reproduce(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.data = cls.folder / "animals"
        subprocess.run([PARTWISE, "data", "synth", cls.data, "--images", "8", "--categories", "3", "--size", "64"],
                       check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def command(self, table, out, *more):
        return [PARTWISE, "reproduce", table, "--data", self.data, "--out", self.folder / out, "--net", "tiny",
                "--epochs", "1", "--resamples", "20", "--threads", "1", "--device", "cpu", *map(str, more)]

    def reproduce(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True)

    def refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_a_grid_goes_on_where_it_was_stopped_and_stands_beside_the_paper(self):
        grid = ["animal-part-purity", "grid", "--category", "fox", "elephant", "--seeds", "1", "2"]
        with subprocess.Popen(self.command(*grid), stderr=subprocess.PIPE, text=True) as process:
            for line in process.stderr:
                if line.startswith("[2/8]"):
                    process.send_signal(signal.SIGINT)
                    break
            process.stderr.read()
        self.assertEqual(process.returncode, 130)
        begun = self.reproduce(*grid, "--list").stdout.splitlines()
        self.assertEqual(len(begun), 8)
        self.assertTrue(begun[0].startswith("finished"), begun)
        self.assertTrue(begun[7].startswith("open"), begun)
        first = self.folder / "grid/runs/tiny/binary-fox-logistic/interpretable/seed-1/checkpoints/last.safetensors"
        before = first.stat().st_mtime_ns

        done = self.reproduce(*grid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(first.stat().st_mtime_ns, before)
        self.assertNotIn("[1/8]", done.stderr)
        self.assertIn("[8/8]", done.stderr)
        self.assertEqual((self.folder / "grid/animal-part-purity.md").read_text(), done.stdout)
        outcome = json.loads((self.folder / "grid/animal-part-purity.json").read_text())
        self.assertEqual(len(outcome["rows"]), 6)  # two categories and their mean, two arms
        for row in outcome["rows"]:
            self.assertIsNone(row["paper"])  # the paper has no net "tiny"
            self.assertEqual(row["seeds"], 2)
            self.assertLess(row["low"], row["value"])
            self.assertIn("uniform_map", row["controls"])

        again = self.reproduce(*grid)
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        shared = self.reproduce("animal-part-first-layer-instability", "grid", "--arm", "masked", "--category", "fox")
        self.assertEqual((shared.returncode, shared.stderr), (0, ""))  # the same training
        self.assertIn("constant_centre", shared.stdout)

    def test_several_categories_at_once_with_both_losses(self):
        done = self.reproduce("voc-multi-accuracy", "multi", "--arm", "masked")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads((self.folder / "multi/voc-multi-accuracy.json").read_text())["rows"]
        self.assertEqual({(row["loss"], row["metric"]) for row in rows},
                         {("logistic", "output_accuracy"), ("logistic", "accuracy"), ("softmax", "accuracy")})

    def test_the_config_of_each_net_is_found_by_its_name(self):
        (self.folder / "tiny.json").write_text('{"batch": 4}')
        out = self.folder / "configured"
        listed = self.reproduce("voc-purity", "configured", "--config", self.folder / "{net}.json", "--list")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertFalse(out.exists())
        run = self.reproduce("animal-part-purity", "configured", "--config", self.folder / "{net}.json", "--category", "fox",
                             "--arm", "masked")
        self.assertEqual(run.returncode, 0, run.stderr)
        options = json.loads((out / "runs/tiny/binary-fox-logistic/masked/seed-1/options.json").read_text())
        self.assertEqual((options["batch"], options["task"]), (4, "binary:fox"))

    def test_what_is_impossible_is_refused_before_anything_is_written(self):
        self.refused(self.reproduce("purity", "no"), "voc-purity", "cub200-adversarial", "did you mean")
        self.refused(self.reproduce("voc-purity", "no", "--category", "fxo"), "fxo", "fox")
        self.refused(self.reproduce("voc-purity", "no", "--arm", "maskd"), "masked")
        self.refused(self.reproduce("voc-purity", "no", "--net", "tinny"), "tiny")
        self.refused(self.reproduce("voc-purity", "no", "--init", self.folder), "tiny")
        self.refused(self.reproduce("voc-purity", "no", "--set", "epoch=3"), "epochs")
        self.assertFalse((self.folder / "no").exists())
        thesis = self.folder / "thesis"
        thesis.mkdir()
        (thesis / "chapter.txt").write_text("precious")
        self.refused(self.reproduce("voc-purity", "thesis", "--category", "fox"), "thesis")
        self.assertEqual([entry.name for entry in thesis.iterdir()], ["chapter.txt"])


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    unittest.main(argv=sys.argv[:1])
