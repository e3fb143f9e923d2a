#!/usr/bin/env python3
"""usage: interrupts_test.py PARTWISE [--full]: every command that can take long, ended by SIGINT and SIGTERM.

Each ends within moments with exit code 130 and one line that says what is saved, and leaves no drafts. --full: each signal at three moments,
and a table of how long the end took."""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PARTWISE = os.path.abspath(sys.argv.pop(1))
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background has it ignored, for the program too
FULL = "--full" in sys.argv and not sys.argv.remove("--full")
SECONDS = 20 if os.environ.get("PARTWISE_SANITIZED") else 8  # idle it is one; tests run beside others
MOMENTS = [(one, moment) for moment in (0.3, 1.0, 3.0) for one in (signal.SIGINT, signal.SIGTERM)] if FULL else [(signal.SIGTERM, 0.25), (signal.SIGINT, 1.5)]
DRAFT = re.compile(r"\.tmp[\d.]+$")

# `endless`: it cannot have come to its end by itself; `code`: where it is not 130 once it has begun.
Row = collections.namedtuple("Row", "name arguments endless code says", defaults=(False, 130, "interrupted"))
ROWS = (
    Row("data synth", "data synth {out} --images 200000", True, says="run again"),
    Row("data synth --interventions", "data synth {out} --images 150 --size 64 --interventions"),
    Row("data import", "data import folder {photos} {out}"),
    Row("data check --draw", "data check {many} --draw {out}"),
    Row("train", "train {animals} {out} --epochs 100000", True),
    Row("train --ranks 2", "train {animals} {out} --epochs 100000 --ranks 2", True),
    Row("measure --all", "measure {run} --all --resamples 100000", True, says="measur"),
    Row("compare", "compare {run} {run} --json {out}"),
    Row("verify", "verify {run} --images 500 --resamples 100000"),
    Row("draw", "draw filters {run} --out {out}.png"),
    Row("dump", "dump {run} --layer conv4 --data {many} --split all --out {out}.safetensors"),
    Row("referee", "referee {dump} --data {animals} --all --resamples 100000", True),
    Row("explain", "explain {run} --data {many} --split all --out {out}", True),
    Row("names --learn", "names {run} --learn"),
    Row("errors", "errors {run} --data {many} --split all --out {out}"),
    Row("report", "report {run} --out {out}.html"),
    Row("export", "export {run} --out {out}.onnx"),
    Row("serve", "serve {run} --port 0", True, code=0, says=""),
    Row("reproduce", "reproduce animal-part-purity --data {animals} --out {out} --net tiny --category fox --epochs 100000", True),
    Row("demo", "demo --out {out}", True),
    Row("a pipe that nobody reads", "report {run} --out {pipe}", True),
)


def environment(folder):
    return {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder), "CUDA_VISIBLE_DEVICES": "", "OMP_WAIT_POLICY": "passive"}


def among(process, kind, number):
    """Whether the system lists this signal among those the process catches (SigCgt) or ignores (SigIgn)."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return bool(int(status.partition(kind + ":")[2].split()[0], 16) >> (number - 1) & 1)


class Interrupts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.names = {name: str(cls.folder / name) for name in ("animals", "many", "trained", "photos", "pipe")}
        cls.names["dump"] = str(cls.folder / "dump.safetensors")
        for command in ("data synth {animals} --images 12 --categories 3 --size 64", "data synth {many} --images 300 --categories 3 --size 64 --seed 2",
                        "train {animals} {trained} --epochs 2", "measure {trained} --resamples 20 --shuffles 2",
                        "dump {trained} --layer conv4 --out {dump}", "names {trained} --learn"):
            done = subprocess.run([PARTWISE, *(word.format(**cls.names) for word in command.split())], capture_output=True, text=True, env=environment(cls.folder))
            assert done.returncode == 0, done.stderr
        photo = sorted((cls.folder / "many" / "images").glob("fox*.png"))[0]
        for number in range(3000):
            place = cls.folder / "photos" / ("cat", "dog")[number % 2]
            place.mkdir(parents=True, exist_ok=True)
            os.link(photo, place / f"{number}.png")
        os.mkfifo(cls.folder / "pipe")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def interrupted(self, row, which, moment):
        """Seconds until the end; None: it had ended before."""
        work = self.folder / "work"
        work.mkdir()
        run = work / "run"
        shutil.copytree(self.names["trained"], run)
        words = [word.format(**self.names, out=work / "out", run=run) for word in row.arguments.split()]
        with subprocess.Popen([PARTWISE, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(self.folder)) as process:
            time.sleep(moment)
            early = process.poll()
            sent = time.monotonic()
            process.send_signal(which)
            try:
                text = process.communicate(timeout=60)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                text = process.communicate()[1]
            seconds = time.monotonic() - sent
        drafts = [str(path) for path in work.rglob("*") if DRAFT.search(path.name)]
        shutil.rmtree(work)
        where = f"{row.name}, {which.name} after {moment} s: {text[-500:]}"
        if early is None and process.returncode != 0 or row.endless:
            self.assertIn(process.returncode, (row.code,) if FULL and moment > 1 else (row.code, 130), where)
            self.assertLess(seconds, SECONDS, where)
            lines = [line for line in text.splitlines() if line.startswith("partwise: ")]
            self.assertEqual(len(lines), 1 if process.returncode else 0, where)
            if lines:
                self.assertIn("interrupted", lines[0])
            if FULL and moment > 1:  # on a busy machine it may still be loading its libraries
                self.assertIn(row.says, lines[0] if lines else "", where)
        else:
            self.assertEqual(process.returncode, 0, where)
        self.assertEqual(drafts, [], where)
        return None if early is not None else seconds

    def test_every_long_command_ends_soon_and_says_what_is_saved(self):
        for row in ROWS:
            took = []
            for which, moment in MOMENTS:
                with self.subTest(row.name, signal=which.name, moment=moment):
                    took.append("failed")
                    seconds = self.interrupted(row, which, moment)
                    took[-1] = "ended before" if seconds is None else f"{seconds:.2f}"
            if FULL:
                print(f"{row.name:<28} " + "  ".join(f"{one:>12}" for one in took), flush=True)

    def test_a_signal_that_is_ignored_from_the_beginning_stays_so(self):
        """As a shell's script starts what stands before an "&": Ctrl-C is meant for what runs in front."""
        command = [PARTWISE, "train", self.names["animals"], self.folder / "behind", "--epochs", "100000"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(self.folder),
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as process:
            while process.poll() is None and not among(process.pid, "SigCgt", signal.SIGTERM):
                time.sleep(0.02)
            ignored = among(process.pid, "SigIgn", signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertTrue(ignored)

    def test_a_dump_in_writing_is_given_up_and_leaves_nothing(self):
        out = self.folder / "given-up.safetensors"
        words = "dump {trained} --layer conv4 --data {many} --split all --out".format(**self.names).split()
        for _ in range(5):  # on a busy machine it may come to its end before the signal
            out.unlink(missing_ok=True)
            with subprocess.Popen([PARTWISE, *words, out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env=environment(self.folder)) as process:
                while process.poll() is None and not any(DRAFT.search(path.name) for path in self.folder.iterdir()):
                    time.sleep(0.002)
                process.send_signal(signal.SIGINT)
                said = process.communicate()[1]
            if process.returncode != 0:
                break
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted", said)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(out.name)], [])

    def test_parts_that_are_learnt_anew_stay_until_they_are(self):
        run = self.folder / "learning"
        shutil.copytree(self.names["trained"], run)
        before = (run / "parts.json").read_bytes()
        with subprocess.Popen([PARTWISE, "names", run, "--learn"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env=environment(self.folder)) as process:
            while (line := process.stderr.readline()) and "learning" not in line:
                pass
            process.kill()
        self.assertIn("learning", line)
        self.assertEqual((run / "parts.json").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
