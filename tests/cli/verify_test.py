#!/usr/bin/env python3
"""`verify` on a small run: every number has its interval, controls stand where they must, and what cannot be verified is
refused in one line."""
import csv
import json
import shutil
import unittest

from commands_fixture import Commands, run

METHODS = ["parts by name", "parts by place", "silencing by name", "distilled sum by name", "Grad-CAM", "occlusion", "input x gradient",
           "by area", "all equal", "random shares", "inverse"]


class Verifying(Commands):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data, cls.net = cls.folder / "animals", cls.folder / "net"
        cls.done("data", "synth", cls.data, "--images", 48, "--categories", 2, "--size", 64)
        cls.done("train", cls.data, cls.net, "--epochs", 3)
        cls.printed = cls.done("verify", cls.net, "--images", 12, "--resamples", 100, "--csv", cls.folder / "all.csv", "--markdown",
                               cls.folder / "all.md", "--json", cls.folder / "all.json", "--parts", cls.folder / "parts.csv").stdout
        cls.found = json.loads((cls.net / "faithfulness.json").read_text())
        cls.found.pop("checksum")

    def test_everything_lies_in_its_interval_and_says_of_how_many_images(self):
        self.assertEqual(sorted(self.found["methods"]), sorted(METHODS))
        self.assertEqual(self.found["format"], 1)
        self.assertEqual(len(self.found["data_hash"]), 16)
        self.assertEqual(self.found["options"]["images"], 12)
        for method, scores in self.found["methods"].items():
            for protocol in ("single_deletion", "pairs", "top_part", "preservation", "deletion", "completeness",
                             "target_sensitivity"):
                number = scores[protocol]
                self.assertLessEqual(number["low"], number["value"], (method, protocol))
                self.assertLessEqual(number["value"], number["high"], (method, protocol))
                self.assertLessEqual(number["n"], self.found["decided_right"])
            self.assertEqual(scores["deletion"]["n"], self.found["decided_right"] // 2)  # one half chose the threshold

    def test_controls_stand_where_they_must(self):
        methods = self.found["methods"]
        self.assertEqual(methods["all equal"]["single_deletion"]["value"], 0.0)
        self.assertAlmostEqual(methods["all equal"]["top_part"]["value"], self.found["top_part_by_chance"]["value"])
        self.assertEqual(methods["by area"]["target_sensitivity"]["value"], 0.5)
        self.assertAlmostEqual(methods["inverse"]["single_deletion"]["value"], -methods["parts by name"]["single_deletion"]["value"])
        # Rank correlations of five parts and more deviate by 0.5 at the most: three standard errors of a mean.
        self.assertLess(abs(methods["random shares"]["single_deletion"]["value"]), 1.5 / self.found["decided_right"]**0.5)

    def test_the_same_numbers_stand_in_every_file(self):
        self.assertEqual(json.loads((self.folder / "all.json").read_text()), {str(self.net): self.found})
        with open(self.folder / "all.csv", newline="") as file:
            rows = {(row["table"], row["row"], row["number"]): row for row in csv.DictReader(file)}
        for method in METHODS:
            value = float(rows["methods", method, "single_deletion"]["value"])
            self.assertAlmostEqual(value, self.found["methods"][method]["single_deletion"]["value"])
            self.assertIn(f"| {method} | {value:.2f} [", (self.folder / "all.md").read_text())
            self.assertIn(method, self.printed)
        with open(self.folder / "parts.csv", newline="") as file:
            parts = list(csv.DictReader(file))
        self.assertEqual(len({row["image"] for row in parts}), self.found["decided_right"])
        self.assertTrue(all(row["all equal"] == "1" for row in parts))

    def test_the_same_run_gives_the_same_numbers_on_one_thread(self):
        self.done("verify", self.net, "--images", 12, "--resamples", 100, "--threads", 1)
        again = json.loads((self.net / "faithfulness.json").read_text())
        for method in METHODS:
            # Sums of a convolution are rounded otherwise on one thread; a tie may fall to the other side.
            self.assertAlmostEqual(again["methods"][method]["single_deletion"]["value"],
                                   self.found["methods"][method]["single_deletion"]["value"], delta=0.05)

    def test_what_cannot_be_verified_is_refused_in_one_line(self):
        photos = self.folder / "photos"
        for kind in ("fox", "deer"):
            (photos / kind).mkdir(parents=True)
            for picture in sorted((self.data / "images").glob(f"{kind}-*.png"))[:8]:
                shutil.copy(picture, photos / kind)
        imported = self.folder / "imported"
        self.done("data", "import", "folder", photos, imported)
        self.refused(run("verify", self.net, "--data", imported), "cannot be drawn again", "data synth")
        untrained = self.folder / "untrained"
        shutil.copytree(self.net, untrained)
        shutil.rmtree(untrained / "checkpoints")
        self.refused(run("verify", untrained), str(untrained))
        self.refused(run("verify", self.folder / "nowhere"), "nowhere")
        no_test = self.folder / "no_test"
        self.done("data", "synth", no_test, "--images", 8, "--categories", 2, "--size", 64, "--test-share", 0)
        self.refused(run("verify", self.net, "--data", no_test), "test")
        changed = self.folder / "changed"
        shutil.copytree(self.data, changed)
        pictures = sorted((changed / "images").glob("fox-*.png"))
        for picture in pictures[1:]:
            shutil.copy(pictures[0], picture)
        self.refused(run("verify", self.net, "--data", changed), "not what the generator draws")


if __name__ == "__main__":
    unittest.main()
