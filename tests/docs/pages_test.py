#!/usr/bin/env python3
"""What README.md and docs/ tell people to type: every command of every block is run, in the order of its page and in a folder that holds
what a reader would have. docs/tutorial.md is run by tutorial_test.py, docs/api.md by the tests consumer.* and python.layer."""
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from http.cookiejar import CookieJar

from quoted import FENCE, PAGES, ROOT, commands, in_the_text, lines_of, whole_commands

PARTWISE = pathlib.Path(sys.argv.pop(1)).resolve()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background has it ignored, for the program too

# What is not run as it stands: words of a line, what is run in their place, why.
SMALLER = [
    ("demo --seed 1", "demo --seed 1 --images 20 --categories 2 --size 64 --epochs 1 --pretraining-images 10 --pretraining-epochs 1", "takes six minutes"),
    ("demo --quick", "demo --quick --images 20 --categories 2 --size 64 --epochs 1", "takes a minute"),
    ("--images 300", "--images 20 --size 64", "2,100 images, and 9,000 with interventions"),
    ("--config configs/real-photos.json", "--config configs/real-photos.json --epochs 1", "forty epochs"),
    ("--net vgg-16 --init", "--positives 4 --batch 4 --hidden 8 --init-scale keep --net vgg-16 --init", "half a second per image, 4096 hidden units"),
    ("--resume --epochs 60", "--resume --epochs 14", "48 more epochs"),
    ("--ranks 4", "--ranks 4 --epochs 1", "four processes on two cores"),
    ("--metrics adversarial_distortion", "--metrics adversarial_distortion --attack-images 1 --attack-steps 2", "attacks are slow, as the page says"),
    ("verify demo/runs/interpretable demo/runs/masked", "verify demo/runs/interpretable demo/runs/masked --images 2", "sixty images per category"),
    ("--images 200 --parts", "--images 2 --parts", "two hundred images per category"),
    ("reproduce voc-purity --data voc --out grid", "reproduce voc-purity --data voc --out grid --category fox --net tiny --arm ordinary", "a grid of large networks"),
    ("--net vgg-16 --seeds 1 2 3", "--seeds 1 2", "the network is tiny, see above"),
    ("| man -l -", "| cat", "a bare machine has no man"),
]
NOT_RUN = [
    ("torchrun --no_python --nnodes 2", "two machines with GPUs; ctest cli.ranks runs torchrun on one"),
    ("make ", "the target must exist; they build, or run this test"),
]
# Blocks of these kinds of these pages are tried by the tests named.
TRIED_BY = {("docs/tutorial.md", ""): "docs.tutorial", ("docs/tutorial.md", "sh"): "docs.tutorial", ("docs/api.md", "cmake"): "consumer.*",
            ("docs/api.md", "python"): "python.layer", ("docs/export.md", "python"): "here"}


class Place:
    """A scratch folder in which the commands of a page run, with a home of its own."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.environment = {**os.environ, "PATH": f"{PARTWISE.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.folder / "home"),
                            "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
        (self.folder / "home").mkdir()
        (self.folder / "configs").symlink_to(ROOT / "configs")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.temporary.cleanup()

    def shell(self, line):
        return subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)

    def done(self, line):
        result = self.shell(line)
        assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"

    def serve(self, line):
        """Starts a server, asks for one page, ends it as Ctrl-C does; gives how that failed."""
        process = subprocess.Popen(shlex.split(line), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            address = re.sub(r"//[^:/]+:", "//127.0.0.1:", process.stdout.readline().strip())
            asking = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))  # a token comes back as a cookie
            page = asking.open(address, timeout=60).read().decode() if address else ""
        finally:
            process.send_signal(signal.SIGINT)
            words = process.communicate(timeout=60)[1]
        return "" if "<html" in page and process.returncode in (0, 130) else f"exit {process.returncode}: {address} {page[:200]} {words}"


def matlab_element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def matlab_array(flags, extents, rest, name=b""):
    sizes = struct.pack(f"<{len(extents)}i", *extents)
    return matlab_element(14, matlab_element(6, struct.pack("<II", flags, 0)) + matlab_element(5, sizes) + matlab_element(1, name) + rest)


def matlab_numbers(*values):
    """A row of numbers."""
    return matlab_array(6, [min(1, len(values)), len(values)], matlab_element(9, struct.pack(f"<{len(values)}d", *values)))


def matlab_structs(rows, name=b""):
    fields = b"".join(field.encode().ljust(32, b"\0") for field in rows[0])
    return matlab_array(2, [1, len(rows)], matlab_element(5, struct.pack("<i", 32)) + matlab_element(1, fields) +
                        b"".join(value for row in rows for value in row.values()), name)


def write_matlab(path, variable):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"MATLAB 5.0 MAT-file, by hand".ljust(124) + b"\0\1IM" + variable)


class World:
    """What a reader brings to a page, made small and once: photographs, downloads, weights, runs."""

    def __init__(self):
        self.place = Place()
        self.folder = self.place.folder
        (self.folder / "weights").mkdir()
        for line in ("partwise data synth animals --images 20 --categories 3 --size 64",
                     "partwise data synth large --images 2 --categories 1 --size 384",
                     "partwise demo --out demo --images 20 --categories 3 --size 64 --epochs 1 --pretraining-images 10 --pretraining-epochs 1",
                     "partwise train animals runs/fox --task binary:fox --loss logistic --epochs 1",
                     "partwise export demo/runs/ordinary --out weights/tiny.safetensors"):
            self.place.done(line)
        for run, name in (("masked",) * 2, ("interpretable",) * 2, ("ordinary",) * 2, ("interpretable", "parts")):
            shutil.copytree(self.folder / "demo" / "runs" / run, self.folder / "runs" / name)
        self.pictures = {}
        for picture in sorted((self.folder / "animals" / "images").iterdir()):
            self.pictures.setdefault(picture.name.split("-")[0], []).append(picture)
        shutil.copy(next((self.folder / "large" / "images").glob("fox*")), self.folder / "photo.jpg")
        for name, pictures in self.pictures.items():
            self.copy(pictures[:12], self.folder / "photos" / ("negatives" if name == "negative" else name))
        self.copy(self.pictures["fox"][:2], self.folder / "holiday")
        for name in ("voc", "annotated"):
            shutil.copytree(self.folder / "animals", self.folder / name)
        self.write_animal_part(self.folder / "detanimalpart")
        self.place.done("partwise data import animal-part detanimalpart imported")
        self.write_cub(self.folder / "CUB_200_2011")
        self.write_vgg(self.folder / "vgg16.pth")
        for name in ("resnet18.pth", *(f"weights/{net}.safetensors" for net in ("alexnet", "vgg_m", "vgg_s", "vgg_16"))):
            shutil.copy(self.folder / "weights" / "tiny.safetensors", self.folder / name)  # looked for, not trained from

    @staticmethod
    def copy(pictures, folder, name="{}"):
        folder.mkdir(parents=True, exist_ok=True)
        for number, picture in enumerate(pictures, 1):
            shutil.copy(picture, folder / (name.format(number) + ".jpg"))

    def write_animal_part(self, folder):
        """The layout of docs/datasets.md: a box and a head per photograph of two animals, and negatives."""
        box = matlab_structs([dict(zip(("xmin", "ymin", "xmax", "ymax"), map(matlab_numbers, (5, 5, 60, 60))))])
        sample = {"obj": matlab_structs([{"bndbox": box}])}
        head = {"pHW_center": matlab_numbers(90, 120), "pHW_scale": matlab_numbers(30, 30), "obj": matlab_numbers()}
        for synset, name in (("n02118333", "fox"), ("n02121808", "deer")):  # foxes and "cats"
            pictures = self.pictures[name][:10]
            self.copy(pictures, folder / f"{synset}_obj" / "img" / "img", "{:05}")
            write_matlab(folder / f"{synset}_obj" / "img" / "data.mat", matlab_structs([sample] * len(pictures), b"samples"))
            write_matlab(folder / "truth" / synset / "truth_part01.mat", matlab_structs([head] * len(pictures), b"truth"))
        self.copy(self.pictures["negative"][:10], folder / "neg")

    def write_cub(self, folder):
        (folder / "parts").mkdir(parents=True)
        pictures = self.pictures["fox"][:8]
        self.copy(pictures, folder / "images" / "001.Fox")
        ids = range(1, len(pictures) + 1)
        for name, line in (("images.txt", "{0} 001.Fox/{0}.jpg"), ("image_class_labels.txt", "{0} 1"), ("train_test_split.txt", "{0} 1"),
                           ("bounding_boxes.txt", "{0} 4 4 50 50"), ("parts/part_locs.txt", "{0} 1 20 20 1")):
            (folder / name).write_text("".join(line.format(one) + "\n" for one in ids))
        (folder / "classes.txt").write_text("1 001.Fox\n")
        (folder / "parts" / "parts.txt").write_text("1 beak\n")

    @staticmethod
    def write_vgg(path):
        """torchvision's names and shapes of VGG-16's convolutions."""
        header, size, channels, at = {}, 0, 3, 0
        for filters in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512):
            if filters == 0:
                at += 1
                continue
            for name, shape in ((f"features.{at}.weight", [filters, channels, 3, 3]), (f"features.{at}.bias", [filters])):
                count = 1
                for extent in shape:
                    count *= extent
                header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [size, size + 4 * count]}
                size += 4 * count
            channels, at = filters, at + 2
        text = json.dumps(header).encode()
        pattern = struct.pack("<1021f", *((i * 7919 % 1021 / 1021 - 0.5) / 16 for i in range(1021)))
        path.write_bytes(struct.pack("<Q", len(text)) + text + (pattern * (size // len(pattern) + 1))[:size])

    def give(self, place, names):
        for name in names:
            source, target = self.folder / name.split(" as ")[0], place.folder / name.split(" as ")[-1]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)


# What a reader of each page has before its first command; everything else the page makes itself.
HAS = {
    "README.md": ["photos", "photo.jpg"],
    "docs/commands.md": ["photos", "photo.jpg", "holiday", "demo", "runs/masked", "runs/interpretable", "runs/ordinary", "CUB_200_2011", "voc", "weights",
                         "vgg16.pth", "resnet18.pth"],
    "docs/datasets.md": ["detanimalpart"],
    "docs/explorer.md": ["animals", "runs/masked", "runs/interpretable", "runs/fox"],
    "docs/troubleshooting.md": ["annotated", "runs/parts", "runs/interpretable"],
    "docs/training.md": ["imported as animals", "voc", "weights"],
}


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.addClassCleanup(cls.world.place.temporary.cleanup)
        cls.used = set()

    def made_smaller(self, line):
        for row in SMALLER:
            if row[0] in line:
                line = line.replace(row[0], row[1])
                self.used.add(row)
        return line

    def run_page(self, page, lines):
        with Place() as place:
            self.world.give(place, HAS.get(page, ["runs/masked", "runs/interpretable", "runs/ordinary"]))
            for line in lines:
                self.run_line(place, page, line)

    def run_line(self, place, page, line):
        skipped = [row for row in NOT_RUN if line.startswith(row[0])]
        self.used.update(skipped)
        if skipped:
            return
        line = self.made_smaller(line)
        if line.startswith("partwise serve "):
            failed = place.serve(line if "--port" in line else line + " --port 0")  # 8080 may be somebody's
            self.assertEqual(failed, "", f"{page}: {line}")
            return
        done = place.shell(line)
        if "several ranks need Gloo" not in done.stderr:
            self.assertEqual(done.returncode, 0, f"{page}: {line}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def test_all_run(self):
        for path in PAGES:
            page, text = str(path.relative_to(ROOT)), path.read_text()
            lines = commands(text) + whole_commands(text)
            if lines and (page, "sh") not in TRIED_BY:
                with self.subTest(page):
                    self.run_page(page, lines)
        self.assertEqual([row for row in SMALLER + NOT_RUN if row not in self.used], [], "no page has these any more")

    def test_the_python_of_the_export_page_runs(self):
        if any(importlib.util.find_spec(module) is None for module in ("numpy", "onnxruntime", "PIL")):
            self.skipTest("no numpy, onnxruntime and PIL here; make test-onnx runs exported networks in onnxruntime")
        blocks = [body for language, body in FENCE.findall((ROOT / "docs" / "export.md").read_text()) if language == "python"]
        with Place() as place:
            self.world.give(place, ["runs/fox", "photo.jpg as fox.jpg"])
            place.done("partwise export runs/fox --out fox.onnx")
            for block in blocks:
                done = subprocess.run([sys.executable, "-c", block], cwd=place.folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helps = {(): cls.help()}

    @staticmethod
    def help(*words):
        return subprocess.run([PARTWISE, *words, "--help"], capture_output=True, text=True).stdout

    def help_of(self, words):
        """The --help of the command these words begin with; nothing where they name none."""
        command = ()
        for word in words[:2]:
            if not re.search(rf"(?m)^  {re.escape(word)} ", self.helps[command].partition("Subcommands:")[2]):
                break
            command += (word,)
            if command not in self.helps:
                self.helps[command] = self.help(*command)
        return None if "Subcommands:" in self.helps[command] else self.helps[command]

    def test_have_no_block_that_nobody_tries(self):
        for path in PAGES:
            text = path.read_text()
            self.assertNotIn("```", FENCE.sub("", text), f"{path.name}: a block that is indented, or open")
            for language, body in FENCE.findall(text):
                if language == "text":  # layouts and lists, not commands
                    self.assertFalse(re.search(r"(?m)^\s*(\$ |partwise |make |python)", body), path.name)
                elif language not in ("", "sh"):
                    self.assertIn((str(path.relative_to(ROOT)), language), TRIED_BY)

    def test_quote_only_commands_and_flags_that_exist(self):
        seen = 0
        for path in PAGES:
            text = path.read_text()
            for line in commands(text) + in_the_text(text):
                quoted = re.search(r"(?:^|[ /])partwise ([a-z].*)", line)  # behind torchrun, say
                if not quoted:
                    continue
                words = [word.split("=")[0] for word in shlex.split(re.sub(r"[\[\]…]", " ", quoted[1]))]
                told = self.help_of(words)
                self.assertIsNotNone(told, f"{path.name}: {line}")
                for flag in (word for word in words if word.startswith("--") and len(word) > 2):
                    self.assertTrue(re.search(rf"(?m)^\s+(-\w,)?{re.escape(flag)}[\s:]", told), f"{path.name}: {line} has no {flag}")
                seen += 1
        self.assertGreater(seen, 60)

    def test_name_only_targets_scripts_and_presets_that_exist(self):
        targets = re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text())
        presets = {each["name"] for each in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        for path in [*PAGES, ROOT / "bench" / "RESULTS.md"]:
            text = path.read_text()
            for line in commands(text) + in_the_text(text):
                for target in re.findall(r"^make ([a-z-]+)", line):
                    self.assertIn(target, targets, f"{path.name}: {line}")
                for preset in re.findall(r"--preset ([a-z-]+)", line):
                    self.assertIn(preset, presets, f"{path.name}: {line}")
                for script in re.findall(r"(?:^|[ '=])((?:tools|tests|bench|configs|docs|python|cmake)/[^ ']+)", line):
                    self.assertTrue((ROOT / script).exists() or re.search(r"[A-Z]{3}|[{*]", script), f"{path.name}: {line}")  # FILE, {net}

    def test_quote_cmake_as_the_consumers_test_has_it(self):
        used = " ".join((ROOT / "tests" / "consumer" / "CMakeLists.txt").read_text().split())
        lines = [line for language, body in FENCE.findall((ROOT / "docs" / "api.md").read_text()) if language == "cmake" for line in lines_of(body)]
        self.assertGreater(len(lines), 3)
        for line in lines:
            pattern = re.escape(line.rstrip(")")).replace("my_network", r"\w+").replace(r"add_subdirectory\(", r"add_subdirectory\(\S+ ")
            self.assertTrue(re.search(pattern + r"[ )]", used), line)

    def test_link_only_to_what_is_there(self):
        def anchors(page):
            return [re.sub(r"[^\w\- ]", "", each).lower().replace(" ", "-") for each in re.findall(r"(?m)^#+ (.*)$", FENCE.sub("", page.read_text()))]

        for page in [*PAGES, ROOT / "CHANGELOG.md", ROOT / "bench" / "RESULTS.md"]:
            for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)]*)\)", FENCE.sub("", page.read_text())):
                if target.startswith("http"):
                    continue
                there = page.parent / target if target else page
                self.assertTrue(there.exists(), f"{page.name}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors(there), page.name)

    def test_name_every_command(self):
        page = (ROOT / "docs" / "commands.md").read_text()
        for command in re.findall(r"(?m)^  ([a-z]+)", self.helps[()].partition("Subcommands:")[2]):
            self.assertIn(f"partwise {command}", page)

    def test_show_the_pictures_that_the_tables_give(self):
        for tool in ("draw_claims.py", "draw_trade_offs.py"):
            done = subprocess.run([sys.executable, ROOT / "tools" / tool, "--check"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
