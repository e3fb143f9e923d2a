#!/usr/bin/env python3
"""`partwise demo` from end to end, very small: what it leaves, that it repeats itself exactly, that it resumes."""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PARTWISE = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background has it ignored, for the program too
SMALL = ["--images", "21", "--categories", "3", "--epochs", "2", "--pretraining-images", "12",
         "--pretraining-epochs", "1", "--size", "64"]
ARMS = ["ordinary", "ordinary+layer", "masked", "interpretable"]


def demo(out, *more):
    return subprocess.run([PARTWISE, "demo", "--out", str(out), *SMALL, *more], capture_output=True, text=True)


def summary(out):
    content = json.loads((out / "summary.json").read_text())
    content.pop("seconds")
    return content


class Demo(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def test_leaves_a_report_and_a_summary_and_repeats_itself_exactly(self):
        one, two = self.folder / "one", self.folder / "two"
        first = demo(one)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn(str(one / "report.html"), first.stdout)
        self.assertEqual(sorted(summary(one)["arms"]), sorted(ARMS))
        for arm in summary(one)["arms"].values():
            for key in ("accuracy", "balanced_accuracy", "purity", "part_interpretability", "location_instability"):
                self.assertIn("controls", arm[key])
        page = (one / "report.html").read_text()
        for arm in ARMS:
            self.assertIn(arm, page)
        self.assertEqual(demo(two).returncode, 0)
        self.assertEqual(summary(one), summary(two))

        again = time.monotonic()
        self.assertEqual(demo(one).returncode, 0)  # all is there: nothing is trained again
        self.assertNotIn("training", demo(one).stderr)
        self.assertLess(time.monotonic() - again, 60)
        self.assertEqual(summary(one), summary(two))

        other = demo(one, "--seed", "2")
        self.assertEqual(other.returncode, 1)
        self.assertIn("other options", other.stderr)

    def test_goes_on_after_an_interrupt(self):
        whole, broken = self.folder / "whole", self.folder / "broken"
        self.assertEqual(demo(whole).returncode, 0)
        running = subprocess.Popen([PARTWISE, "demo", "--out", str(broken), *SMALL], stderr=subprocess.PIPE, text=True,
                                   stdout=subprocess.DEVNULL)
        log = broken / "runs" / "ordinary+layer" / "log.jsonl"
        while not log.exists() and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
        self.assertIn(running.returncode, (0, 130), said)  # 0: it was faster than the signal
        if running.returncode == 130:
            self.assertIn("interrupted", said)
        self.assertEqual(demo(broken).returncode, 0)
        self.assertEqual(summary(whole), summary(broken))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
