#!/usr/bin/env python3
"""explain, names and errors through the program: what they write, that shares add up, that bad images stop none of the others."""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PARTWISE = sys.argv.pop(1)
PNG = b"\x89PNG\r\n\x1a\n"


def huge_png(side):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.place.name)
        cls.call("data", "synth", "animals", "--images", "24", "--categories", "2", "--size", "64")
        cls.call("train", "animals", "run", "--epochs", "2", "--hidden", "16")
        cls.call("names", "run")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def call(cls, *words, status=0):
        done = subprocess.run([PARTWISE, *map(str, words)], capture_output=True, text=True, cwd=cls.root)
        assert done.returncode == status, (words, done.returncode, done.stderr)
        return done

    def test_writes_a_picture_and_numbers_that_add_up(self):
        images = sorted((self.root / "animals" / "images").glob("fox-*.png"))[:2]
        printed = self.call("explain", "run", *images, "--data", "animals", "--out", "why", "--html", "why/page.html", "--json").stdout
        lines = [json.loads(line) for line in printed.splitlines()]
        self.assertEqual(len(lines), 2)
        for image, line in zip(images, lines):
            self.assertEqual((self.root / "why" / image.name).read_bytes()[:8], PNG)
            self.assertEqual(json.loads((self.root / "why" / (image.stem + ".json")).read_text()), line)
            evidence = line["evidence"]
            self.assertAlmostEqual(sum(part["share"] for part in line["parts"]), evidence["above_baseline"], delta=1e-3)
            self.assertAlmostEqual(evidence["score"] - evidence["baseline"], evidence["above_baseline"], delta=1e-6)
            self.assertNotEqual(line["box"], [0, 0, 64, 64])  # the dataset's own
            self.assertGreaterEqual(line["probability"], line["against_probability"])
        page = (self.root / "why" / "page.html").read_text()
        self.assertIn(images[0].name, page)
        self.assertNotIn("http://", page)
        self.assertNotIn("https://", page)

    def test_a_folder_a_box_and_another_class(self):
        (self.root / "photos").mkdir()
        for image in sorted((self.root / "animals" / "images").glob("deer-*.png"))[:3]:
            shutil.copy(image, self.root / "photos")
        self.call("explain", "run", "photos", "--out", "folder")
        self.assertEqual(len(list((self.root / "folder").glob("*.png"))), 3)
        one = sorted((self.root / "photos").glob("*.png"))[0]
        line = json.loads(self.call("explain", "run", one, "--box", "10,8,40,30", "--json", "--out", "boxed").stdout)
        self.assertEqual(line["box"], [10, 8, 40, 30])
        self.assertIn("valid", self.call("explain", "run", one, "--against", "cow", status=1).stderr)

    def test_bad_images_stop_none_of_the_others(self):
        bad = self.root / "bad"
        (bad / "empty-folder").mkdir(parents=True)
        (bad / "text.jpg").write_text("hello")
        (bad / "nothing.png").write_bytes(b"")
        (bad / "huge.png").write_bytes(huge_png(30000))
        links = self.root / "links"
        links.mkdir()
        (links / "loop").symlink_to("loop")
        (links / "loop.png").symlink_to("loop.png")
        good = sorted((self.root / "animals" / "images").glob("fox-*.png"))[0]
        done = self.call("explain", "run", bad / "text.jpg", bad / "nothing.png", bad / "huge.png", bad / "empty-folder",
                         bad / "gone.jpg", good, "--out", "mixed", status=1)
        for word in ("text.jpg: not an image", "nothing.png: zero bytes", "huge.png: 30000 x 30000", "gone.jpg: no such file",
                     "empty-folder: a folder without"):
            self.assertIn(word, done.stderr)
        self.assertIn("5 image(s) not explained", done.stderr)
        self.assertNotIn("internal error", done.stderr)
        self.assertEqual([path.name for path in (self.root / "mixed").glob("*.png")], [good.name])
        self.call("explain", "run", bad / "text.jpg", "--out", "nothing", status=1)
        self.assertFalse((self.root / "nothing").exists())
        shutil.copy(good, links / "good.png")
        done = self.call("explain", "run", links, "--out", "linked", status=1)
        self.assertIn("loop.png: ", done.stderr)
        self.assertIn("1 image(s) not explained", done.stderr)
        self.assertTrue((self.root / "linked" / "good.png").exists())
        outside = self.call("explain", "run", good, "--box", "900,0,10,10", "--out", "mixed", status=1).stderr
        self.assertIn("lies outside the image of 64 x 64", outside)
        self.call("explain", "run", good, "--box", "1,2", status=2)
        self.assertIn("no such run folder", self.call("explain", "gone", good, status=1).stderr)
        shutil.copytree(self.root / "run", self.root / "bare")
        shutil.rmtree(self.root / "bare" / "checkpoints")
        self.assertIn("has no checkpoint", self.call("explain", "bare", good, status=1).stderr)

    def test_works_from_the_run_folder_alone(self):
        shutil.copytree(self.root / "run", self.root / "elsewhere" / "run")
        image = self.root / "elsewhere" / "photo.png"
        shutil.copy(sorted((self.root / "animals" / "images").glob("fox-*.png"))[0], image)
        manifest = self.root / "elsewhere" / "run" / "manifest.json"
        changed = json.loads(manifest.read_text().replace("animals", "gone"))
        changed.pop("checksum")
        manifest.write_text(json.dumps(changed))
        known = json.loads(self.call("explain", "elsewhere/run", image, "--json", "--out", "alone").stdout)
        self.assertIsNotNone(known["evidence"]["training_images_with_less"])
        (self.root / "elsewhere" / "run" / "parts.json").unlink()
        blind = self.call("explain", "elsewhere/run", image, "--json", "--out", "alone")
        self.assertIn("not by parts", blind.stderr)
        self.assertIsNone(json.loads(blind.stdout)["evidence"]["training_images_with_less"])

    def test_people_name_merge_and_annotate(self):
        shutil.copytree(self.root / "run", self.root / "named")
        self.call("names", "named", "--set", "new:3=snout <b>", "new:4=ear", "--note", "new:3=fires on grass too", "--merge", "ear+snout <b>=face")
        filters = {(f["layer"], f["filter"]): f for f in json.loads(self.call("names", "named", "--json").stdout)}
        for number in (3, 4):
            self.assertEqual(filters["new", number]["name"], "face")
            self.assertEqual(filters["new", number]["from"], "people")
        self.assertEqual(filters["new", 3]["note"], "fires on grass too")
        self.call("names", "named", "--table", "table.md")
        self.assertIn("| face |", (self.root / "table.md").read_text())
        for words, what in {("--set", "new:999=x"): "filters 0 to 79", ("--set", "old:1=x"): "no layer 'old'", ("--set", "new=x"): "LAYER:FILTER=WORDS",
                            ("--merge", "face=ear"): "both ways", ("--merge", "face"): "PART+PART=PART"}.items():
            self.assertIn(what, self.call("names", "named", *words, status=1).stderr)
        self.call("names", "named", "--by-place")  # learnt anew: what people said stays
        again = {(f["layer"], f["filter"]): f for f in json.loads(self.call("names", "named", "--json").stdout)}
        self.assertEqual(again["new", 3]["name"], "face")
        self.assertIn("place", {f["from"] for f in again.values()})
        self.call("names", "named", "--forget")
        self.assertNotIn("people", {f["from"] for f in json.loads(self.call("names", "named", "--json").stdout)})
        (self.root / "named" / "names.json").write_text("[]")
        self.assertIn("names.json", self.call("names", "named", status=1).stderr)

    def test_errors_are_counted_and_drawn(self):
        printed = self.call("errors", "run", "--split", "all", "--out", "mistakes", "--pictures", "1").stdout
        wrong, of = (int(printed.split()[i]) for i in (0, 2))
        self.assertEqual(of, 48)
        found = json.loads((self.root / "mistakes" / "errors.json").read_text())
        self.assertEqual(sum(len(pair["mistakes"]) for pair in found["pairs"]), wrong)
        for pair in found["pairs"]:
            for mistake in pair["mistakes"]:
                self.assertEqual(mistake["decision"], pair["decided"])
                self.assertEqual(mistake["against"], pair["truth"])
            self.assertTrue((self.root / "mistakes" / pair["mistakes"][0]["picture"]).exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
