#!/usr/bin/env python3
"""Datasets as strangers hand them over: hostile files, interrupted imports, crops kept between runs."""
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

PARTWISE = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background has it ignored, for the program too
ROOM = 2 << 30  # bytes a process may write to; a 60000 x 60000 image would take ten


def run(*arguments, **kwargs):
    return subprocess.run([PARTWISE, *map(str, arguments)], capture_output=True, text=True, **kwargs)


def confine():
    if "PARTWISE_SANITIZED" not in os.environ:  # sanitizers reserve terabytes
        resource.setrlimit(resource.RLIMIT_DATA, (ROOM, ROOM))


def run_confined(*arguments):
    return run(*arguments, preexec_fn=confine)


def png_chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def giant_png(side):
    """Well-formed up to its first bytes of data."""
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", zlib.compress(b"\0" * 1000))


def giant_jpeg(jpeg, side):
    at = jpeg.index(b"\xff\xc0") + 5
    return jpeg[:at] + struct.pack(">HH", side, side) + jpeg[at + 4:]


# 8 x 8, grey: the smallest whole JPEG with its tables, written by hand so that nothing is downloaded.
JPEG = (b"\xff\xd8\xff\xdb\x00\x43\x00" + b"\x10" * 64 + b"\xff\xc0\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00"
        + b"\xff\xc4\x00\x14\x00\x01" + b"\x00" * 15 + b"\x00" + b"\xff\xc4\x00\x14\x10\x01" + b"\x00" * 15 + b"\x00"
        + b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" + b"\x3f" + b"\xff\xd9")


class Data(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.data = cls.folder / "animals"
        made = run("data", "synth", cls.data, "--images", 8, "--categories", 2, "--size", 64)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stderr)
        lines = [line for line in result.stderr.splitlines() if line]
        self.assertEqual(len(lines), 1, result.stderr[:2000])
        self.assertTrue(lines[0].startswith("partwise: "), lines[0])
        for word in words:
            self.assertIn(word, lines[0])

    def class_folders(self, place, copies=1):
        for image in (self.data / "images").glob("*.png"):
            name = image.name.split("-")[0]
            target = place / ("negatives" if name == "negative" else name)
            target.mkdir(parents=True, exist_ok=True)
            for copy in range(copies):
                (target / f"{copy}-{image.name}").write_bytes(image.read_bytes())
        return place

    def test_hostile_images_are_named_in_little_memory(self):
        original = self.class_folders(self.folder / "hostile")
        bad = {"empty.png": b"", "notes.txt": b"not a picture", "giant.png": giant_png(60000),
               "giant.jpg": giant_jpeg(JPEG, 60000), "cut.png": next(original.glob("fox/*.png")).read_bytes()[:300],
               "cut.jpg": JPEG[:-12], "html.jpg": b"<html>404</html>", "endless.png": giant_png(2**31 - 1)}
        for name, content in bad.items():
            (original / "fox" / name).write_bytes(content)
        made = self.folder / "survived"
        imported = run_confined("data", "import", "folder", original, made)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        skipped = {pathlib.Path(item["name"]).name: item["reason"] for item in json.loads((made / "skipped.json").read_text())}
        self.assertEqual(set(skipped), set(bad))
        for name in ("giant.png", "giant.jpg"):
            self.assertIn("60000 x 60000", skipped[name])
        self.refused(run_confined("data", "import", "folder", original, self.folder / "strict", "--strict"))
        # The same files behind an honest description: checked and trained on, named and refused.
        victim = next((made / "images" / "fox").glob("*.png"))
        whole = victim.read_bytes()
        for name in ("giant.png", "giant.jpg", "cut.png"):
            victim.write_bytes(bad[name])
            self.refused(run_confined("data", "check", made), victim.name)
        description = json.loads((made / "dataset.json").read_text())
        description["splits"] = {"train": [image["id"] for image in description["images"]], "test": []}
        (made / "dataset.json").write_text(json.dumps(description))
        victim.write_bytes(bad["giant.png"])
        self.refused(run_confined("train", made, self.folder / "run-hostile", "--epochs", 1), victim.name, "60000")
        victim.write_bytes(whole)

    def test_hostile_descriptions_are_one_line(self):
        deep = "[" * 1_000_000
        texts = ["", "\0" * 100, '{"info":{"a":' + deep + "]" * 1_000_000 + "}}",
                 '{"images":[' + '{"id":1},' * 200_000 + "]}", "{\"images\": \"" + "x" * 1_000_000 + "\"}"]
        for number, text in enumerate(texts):
            place = self.folder / f"hostile{number}"
            place.mkdir()
            (place / "dataset.json").write_text(text)
            self.refused(run("data", "check", place), "dataset.json")
            self.refused(run("data", "import", "coco", place, self.folder / "none"), "dataset.json")
            self.assertFalse((self.folder / "none").exists())

    def test_an_import_killed_in_the_middle_is_completed(self):
        original = self.class_folders(self.folder / "many", copies=150)
        whole = self.folder / "whole"
        self.assertEqual(run("data", "import", "folder", original, whole).returncode, 0)
        for number, how in enumerate((signal.SIGTERM, signal.SIGKILL)):
            out = self.folder / f"killed{number}"
            process = subprocess.Popen([PARTWISE, "data", "import", "folder", original, out, "--threads", "1"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while process.poll() is None and not list(out.rglob("*.png")):
                time.sleep(0.001)
            process.send_signal(how)
            _, words = process.communicate()
            self.assertEqual(process.returncode, 130 if how == signal.SIGTERM else -how, words)
            self.assertFalse((out / "dataset.json").exists())
            copied = next(out.rglob("*.png"))
            when = copied.stat().st_mtime_ns
            again = run("data", "import", "folder", original, out)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual((out / "dataset.json").read_bytes(), (whole / "dataset.json").read_bytes())
            for path in whole.rglob("*"):
                self.assertTrue((out / path.relative_to(whole)).exists(), path)
            self.assertEqual(sorted(out.rglob("*.tmp")), [])
            self.assertEqual(copied.stat().st_mtime_ns, when)  # not copied again

    def test_interventions_are_added_interrupted_and_completed(self):
        options = ["--images", 60, "--categories", 2, "--size", 64]
        out = self.folder / "changed"
        self.assertEqual(run("data", "synth", out, *options).returncode, 0)
        description = (out / "dataset.json").read_bytes()
        process = subprocess.Popen([PARTWISE, "data", "synth", out, *map(str, options), "--interventions", "--threads", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not list(out.glob("interventions/*.png")):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        _, words = process.communicate()
        self.assertEqual(process.returncode, 130, words)
        self.assertIn("run again", words)
        self.assertFalse((out / "interventions.json").exists())
        drawn = next(out.glob("interventions/*.png"))
        when = drawn.stat().st_mtime_ns
        again = run("data", "synth", out, *options, "--interventions")
        self.assertEqual(again.returncode, 0, again.stderr)
        listed = json.loads((out / "interventions.json").read_text())["interventions"]
        self.assertEqual({item["file_name"] for item in listed},
                         {f"interventions/{path.name}" for path in (out / "interventions").iterdir()})
        self.assertIn(f"{len(listed)} images", again.stdout)
        self.assertEqual(drawn.stat().st_mtime_ns, when)
        self.assertEqual((out / "dataset.json").read_bytes(), description)
        self.assertEqual(run("data", "check", out).returncode, 0)
        self.refused(run("data", "synth", self.folder / "no-test", "--images", 2, "--categories", 1, "--size", 32,
                         "--test-share", 0, "--interventions"), "no-test", "--test-share")

    def test_crops_are_kept_between_runs(self):
        cache = self.folder / "cache"
        flags = ("--epochs", 1, "--threads", 1, "--cache", cache)
        logs = []
        for name, more in (("plain", ("--cache-limit", 0)), ("first", ()), ("second", ())):
            made = run("train", self.data, self.folder / name, *flags, *more)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual(cache.exists(), name != "plain")
            if name == "first":
                prepared = [(path.name, path.stat().st_ino, path.stat().st_size) for path in cache.iterdir()]
            logs.append(json.loads((self.folder / name / "log.jsonl").read_text().splitlines()[0])["loss"])
        self.assertEqual(logs[0], logs[1])
        self.assertEqual(logs[1], logs[2])
        self.assertEqual(prepared, [(path.name, path.stat().st_ino, path.stat().st_size) for path in cache.iterdir()])
        (kept,) = cache.glob("*.crops")
        whole = kept.read_bytes()
        kept.write_bytes(whole[:-1])
        again = run("train", self.data, self.folder / "third", *flags)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("damaged", again.stderr)
        self.assertEqual(kept.read_bytes(), whole)
        blocked = run("train", self.data, self.folder / "fourth", *flags[:-1], "/proc/partwise")
        self.assertEqual(blocked.returncode, 0, blocked.stderr)
        self.assertIn("without the cache: /proc/partwise", blocked.stderr)


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    unittest.main(argv=sys.argv[:1])
