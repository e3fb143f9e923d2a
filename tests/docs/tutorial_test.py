#!/usr/bin/env python3
"""docs/tutorial.md: its commands run as they stand, and leave what the page says. The other pages: pages_test.py."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from quoted import ROOT, commands, whole_commands

PARTWISE = pathlib.Path(sys.argv.pop(1)).resolve()


def run(folder, *words):
    return subprocess.run([PARTWISE, *map(str, words)], cwd=folder, capture_output=True, text=True)


class Tutorial(unittest.TestCase):
    def prepare(self, folder):
        """What a reader brings: photographs in class folders, weights of a backbone; and the repository's options."""
        drawn = run(folder, "data", "synth", "drawn", "--images", 16, "--categories", 2, "--size", 112)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        for image in (folder / "drawn" / "images").iterdir():
            name = image.name.split("-")[0]
            place = folder / "photos" / ("negatives" if name == "negative" else name)
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(image, place)
        for words in (["train", "drawn", "backbone", "--net", "squeezenet1-1", "--arm", "ordinary", "--epochs", 1, "--hidden", 8],
                      ["export", "backbone", "--out", "squeezenet1_1.safetensors"]):
            done = run(folder, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
        (folder / "squeezenet1_1.safetensors").rename(folder / "squeezenet1_1.pth")  # files are told apart by content
        (folder / "drawn").rename(folder / "annotated")
        (folder / "configs").symlink_to(ROOT / "configs")

    def test_every_command_runs_and_leaves_what_the_page_says(self):
        text = (ROOT / "docs" / "tutorial.md").read_text()
        lines = commands(text)
        self.assertGreater(len(lines), 5)
        # With SqueezeNet learning the parts takes minutes, as the page says.
        lines += [line.replace("runs/parts", "runs/rehearsal") for line in whole_commands(text)]
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            self.prepare(folder)
            path = {"PATH": f"{PARTWISE.parent}{os.pathsep}{os.environ['PATH']}", "OMP_WAIT_POLICY": "passive"}
            said = {}
            for line in lines:
                done = subprocess.run(["bash", "-c", line], cwd=folder, env={**os.environ, **path}, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
                said[line] = done.stdout
            for file in ("mine/dataset.json", "sheets", "rehearsal.html", "report.html", "parts.onnx", "runs/parts/findings.json",
                         "runs/rehearsal/parts.json", "why.html"):
                self.assertTrue((folder / file).exists(), file)
            self.assertIn("not distinguishable", said["partwise compare runs/masked runs/parts"])
            for words in ("Before you believe it", "At a glance", "Drawn at random"):
                self.assertIn(words, (folder / "report.html").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
