#!/usr/bin/env python3
"""`partwise draw` on two small runs: every figure as a readable PNG and an SVG that is XML, in the report on request; what
cannot be drawn is refused in one line."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

PARTWISE = sys.argv.pop(1)
SMALL = ["--images", "2", "--filters", "2"]


def run(*arguments):
    return subprocess.run([PARTWISE, *map(str, arguments)], capture_output=True, text=True)


def png_size(path):
    """Width and height; every chunk's checksum is looked at."""
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n", path
    at, size, pixels = 8, None, b""
    while at < len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        data = content[at + 8:at + 8 + length]
        assert struct.unpack_from(">I", content, at + 8 + length)[0] == zlib.crc32(kind + data), path
        if kind == b"IHDR":
            size = struct.unpack_from(">II", data)
        if kind == b"IDAT":
            pixels += data
        at += 12 + length
    assert len(zlib.decompress(pixels)) >= size[0] * size[1], path
    return size


class Drawing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.data = cls.folder / "animals"
        cls.parts, cls.plain = cls.folder / "parts", cls.folder / "plain"
        for command in (["data", "synth", cls.data, "--images", 9, "--categories", 2, "--size", 64],
                        ["train", cls.data, cls.parts, "--epochs", 1],
                        ["train", cls.data, cls.plain, "--epochs", 1, "--arm", "ordinary+layer"]):
            done = run(*command)
            assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [line for line in result.stderr.splitlines() if not line.startswith("learning which parts")]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("partwise: "), result.stderr)
        for word in words:
            self.assertIn(str(word), result.stderr)

    def figures(self):
        listed = run("draw", "--list")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        return [line.split()[0] for line in listed.stdout.splitlines() if not line.startswith(" ")]

    def test_every_figure_is_a_png_and_an_svg(self):
        names = self.figures()
        self.assertEqual(len(names), 8)
        for name in names:
            runs = [self.parts] if name in ("templates", "mask") else [self.parts, self.plain]
            drawn = run("draw", name, *runs, "--out", self.folder / "drawn" / name, *SMALL)
            if name == "errors" and drawn.returncode == 1:  # two or three images may all be right
                self.assertIn("no error to draw", drawn.stderr)
                continue
            self.assertEqual(drawn.returncode, 0, f"{name}: {drawn.stderr}")
            width, height = png_size(self.folder / "drawn" / f"{name}.png")
            root = xml.etree.ElementTree.parse(self.folder / "drawn" / f"{name}.svg").getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertAlmostEqual(float(root.get("width")) * 2, width, delta=2)
            self.assertAlmostEqual(float(root.get("height")) * 2, height, delta=2)
            self.assertIn("seed 1" if name != "templates" else "templates", drawn.stdout)

    def test_the_ending_decides_and_a_folder_gets_both(self):
        out = self.folder / "endings"
        out.mkdir()
        self.assertEqual(run("draw", "templates", self.parts, "--out", out / "only.svg").returncode, 0)
        self.assertEqual(run("draw", "templates", self.parts, "--out", out).returncode, 0)
        self.assertEqual(sorted(p.name for p in out.iterdir()), ["only.svg", "templates.png", "templates.svg"])
        self.refused(run("draw", "templates", self.parts, "--out", out / "a.gif"), 1, "a.gif", ".png", ".svg")

    def test_figures_of_a_run_are_in_its_report(self):
        drawn = run("draw", "filters", self.parts, self.plain, "--into-report", *SMALL)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        recorded = json.loads((self.parts / "figures" / "figures.json").read_text())["figures"]
        self.assertEqual([figure["name"] for figure in recorded], ["filters"])
        self.assertEqual((recorded[0]["epoch"], recorded[0]["step"]), (1, 0))
        png_size(self.parts / "figures" / recorded[0]["file"])
        measured = run("measure", self.parts, "--resamples", 20, "--shuffles", 4)
        self.assertEqual(measured.returncode, 0, measured.stderr)
        page = self.folder / "report.html"
        self.assertEqual(run("report", self.parts, "--out", page).returncode, 0)
        self.assertIn(recorded[0]["title"], page.read_text())
        shutil.rmtree(self.parts / "figures")

    def test_the_data_are_held_against_what_every_run_was_trained_on(self):
        older, out = self.folder / "older", self.folder / "older.png"
        shutil.copytree(self.plain, older)
        manifest = json.loads((older / "manifest.json").read_text())
        manifest["images_hash"] = "0" * 16
        del manifest["checksum"]  # as whoever changes the file by hand
        (older / "manifest.json").write_text(json.dumps(manifest))
        self.refused(run("draw", "filters", self.parts, older, "--out", out, *SMALL), 1, older, "image files", "changed", "--data")
        self.assertFalse(out.exists())
        drawn = run("draw", "filters", self.parts, older, "--data", self.data, "--out", out, *SMALL)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        image = next((self.data / "images").iterdir())
        before = image.stat()
        os.utime(image, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
        try:
            drawn = run("draw", "filters", self.parts, self.plain, "--out", out, *SMALL)
        finally:
            os.utime(image, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        notes = [line.split(": ")[1] for line in drawn.stderr.splitlines() if "written anew" in line]
        self.assertEqual(notes, [str(self.parts), str(self.plain)])  # once each

    def test_what_cannot_be_drawn_is_refused_in_one_line(self):
        out = self.folder / "x.png"
        self.refused(run("draw", "filter", self.parts, "--out", out), 1, "filters", "gradcam", "did you mean 'filters'")
        self.refused(run("draw"), 1, "which figure", "filters")
        self.refused(run("draw", "filters", "--out", out), 1, "which run")
        self.refused(run("draw", "filters", self.parts), 1, "--out")
        self.refused(run("draw", "mask", self.plain, "--out", out), 1, self.plain, "no mask", "interpretable")
        self.refused(run("draw", "mask", self.parts, "--filter", 1000, "--out", out), 1, "1000", "0 to 79")
        self.refused(run("draw", "mask", self.parts, "--image", "lion", "--out", out), 1, "lion", "test")
        self.refused(run("draw", "filters", self.folder / "nothing", "--out", out), 1, "nothing")
        self.refused(run("draw", "filters", self.parts, "--data", self.folder / "gone", "--out", out), 1, "gone")
        bare = self.folder / "bare"
        shutil.copytree(self.parts, bare)
        shutil.rmtree(bare / "checkpoints")
        self.refused(run("draw", "filters", bare, "--out", out), 1, bare, "no checkpoint", "train it")
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
