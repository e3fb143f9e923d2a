#!/usr/bin/env python3
"""The commands that README.md and docs/ tell people to type: the tutorial's run as they stand, the others exist with every flag."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PARTWISE = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(text, languages):
    """Lines of the fenced blocks in these languages, comments cut off, continued lines joined."""
    for language, body in FENCE.findall(text):
        if language in languages:
            yield from filter(None, (line.split(" #")[0].strip() for line in body.replace("\\\n", " ").splitlines()))


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
        (folder / "configs").symlink_to(ROOT / "configs")

    def test_every_command_runs_and_leaves_what_the_page_says(self):
        lines = list(commands((ROOT / "docs" / "tutorial.md").read_text(), {"sh"}))
        self.assertGreater(len(lines), 5)
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            self.prepare(folder)
            path = {"PATH": f"{PARTWISE.parent}{os.pathsep}{os.environ['PATH']}"}
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


class Pages(unittest.TestCase):
    PAGES = ["README.md", "docs/commands.md", "docs/tutorial.md", "docs/troubleshooting.md", "docs/datasets.md", "docs/training.md"]

    @classmethod
    def setUpClass(cls):
        cls.helps = {(): run(ROOT, "--help").stdout}

    def help_of(self, words):
        """The --help of the command these words begin with; nothing where they name none."""
        command = ()
        for word in words[:2]:
            if not re.search(rf"(?m)^  {re.escape(word)} ", self.helps[command].partition("Subcommands:")[2]):
                break
            command += (word,)
            if command not in self.helps:
                self.helps[command] = run(ROOT, *command, "--help").stdout
        return None if "Subcommands:" in self.helps[command] else self.helps[command]

    def quoted(self, page):
        text = (ROOT / page).read_text()
        lines = list(commands(text, {"", "sh"}))
        lines += [" ".join(code.split()) for code in re.findall(r"`(partwise [^`]+)`", FENCE.sub("", text))]
        for line in lines:
            at = line.find("partwise ")  # behind torchrun, say
            if at == 0 or (at > 0 and line[at - 1] == " "):
                yield line[at + len("partwise "):]

    def test_quote_only_commands_and_flags_that_exist(self):
        seen = 0
        for page in self.PAGES:
            for line in self.quoted(page):
                words = [word.split("=")[0] for word in shlex.split(line.replace("[", " ").replace("]", " ").replace("…", " "))]
                if words[0].startswith("-"):
                    continue
                told = self.help_of(words)
                self.assertIsNotNone(told, f"{page}: partwise {line}")
                for flag in (word for word in words if word.startswith("--") and len(word) > 2):
                    self.assertTrue(re.search(rf"(?m)^\s+(-\w,)?{re.escape(flag)}[\s:]", told), f"{page}: partwise {line} has no {flag}")
                seen += 1
        self.assertGreater(seen, 30)

    def test_link_only_to_what_is_there(self):
        for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "configs" / "README.md", *(ROOT / "docs").glob("*.md")]:
            for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)]*)\)", FENCE.sub("", page.read_text())):
                if target.startswith("http"):
                    continue
                there = page.parent / target if target else page
                self.assertTrue(there.exists(), f"{page.name}: {target}")
                if anchor:
                    headings = re.findall(r"(?m)^#+ (.*)$", there.read_text())
                    self.assertIn(anchor, [re.sub(r"[^\w\- ]", "", each).lower().replace(" ", "-") for each in headings], page.name)

    def test_name_every_command(self):
        page = (ROOT / "docs" / "commands.md").read_text()
        for command in re.findall(r"(?m)^  ([a-z]+)", self.helps[()].partition("Subcommands:")[2]):
            self.assertIn(f"partwise {command}", page)

    def test_show_the_picture_that_the_table_gives(self):
        done = subprocess.run([sys.executable, ROOT / "tools" / "draw_claims.py", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
