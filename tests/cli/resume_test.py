#!/usr/bin/env python3
"""A run that is killed, interrupted or out of disk space ends as if nothing had happened, byte for byte; and its logs are
what other programs read. The readers here share no code with the program."""
import csv
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

PARTWISE = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background has it ignored, for the program too
KILLS = 20
EVENTS = "events.out.tfevents.partwise"


def run(*arguments, **kwargs):
    return subprocess.run([PARTWISE, *map(str, arguments)], capture_output=True, text=True, **kwargs)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(content):
    """The payloads of a TFRecord file; every length and both checksums of every record must hold."""
    while content:
        (length, crc) = struct.unpack_from("<QI", content)
        assert crc == masked(content[:8]), "checksum of a length"
        data = content[12:12 + length]
        assert len(data) == length, "a record is cut off"
        (crc,) = struct.unpack_from("<I", content, 12 + length)
        assert crc == masked(data), "checksum of a record's data"
        yield data
        content = content[16 + length:]


def fields(message):
    """(number, value) of a protobuf message: integers, raw bytes of doubles, floats and messages."""
    place = 0

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(tag & 7) or varint()
        yield tag >> 3, message[place:place + size]
        place += size


def scalars(event):
    values = {}
    for _, value in fields(dict(fields(event))[5]):
        entry = dict(fields(value))
        values[entry[1].decode()] = struct.unpack("<f", entry[2])[0]
    return values


def position(place):
    """Epoch and step of the newest checkpoint, (0, 0) before the first."""
    for name in ("next", "last", "previous"):
        path = place / "checkpoints" / f"{name}.safetensors"
        if path.exists():
            content = path.read_bytes()
            (length,) = struct.unpack_from("<Q", content)
            seen = json.loads(json.loads(content[8:8 + length])["__metadata__"]["position"])
            return seen["epoch"], seen["step"]
    return 0, 0


class Resume(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.data = cls.folder / "animals"
        made = run("data", "synth", cls.data, "--images", 12, "--categories", 2, "--size", 64)
        assert made.returncode == 0, made.stderr
        cls.whole = cls.folder / "whole"
        start = time.monotonic()
        process = cls.start(cls.whole)
        while process.poll() is None and not (cls.whole / "checkpoints" / "last.safetensors").exists():
            time.sleep(0.005)
        cls.until_first_checkpoint = time.monotonic() - start
        assert process.wait() == 0, process.stderr.read()
        process.stderr.close()
        cls.until_end = time.monotonic() - start

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def start(cls, place, **kwargs):
        """A checkpoint after every step, fixed threads."""
        command = [PARTWISE, "train", cls.data, place, "--epochs", "3", "--batch", "2", "--validation-images", "4",
                   "--checkpoint-minutes", "0", "--threads", "1", "--resume"]
        return subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **kwargs)

    def finish(self, place, **kwargs):
        process = self.start(place, **kwargs)
        (_, said) = process.communicate()
        return process.returncode, said

    def assert_equals_the_whole_run(self, place):
        """Wall-clock seconds are all that may differ, in the log and in what is made of it."""
        for name in ("last", "best"):
            one, other = ((at / "checkpoints" / f"{name}.safetensors").read_bytes() for at in (self.whole, place))
            self.assertEqual(one, other, f"{name} of {place}")
        self.assertEqual(*((at / "model.json").read_text() for at in (self.whole, place)))
        without_seconds = lambda at: re.sub(rb'"(seconds|checksum)":[^,}]*', b"", (at / "log.jsonl").read_bytes())
        self.assertEqual(without_seconds(place), without_seconds(self.whole))
        self.assert_logs_agree(place)
        left = [path.name for path in place.rglob("*") if ".tmp" in path.name or path.name.startswith("next")]
        self.assertEqual(left, [])

    def assert_logs_agree(self, place):
        rows = [json.loads(line) for line in (place / "log.jsonl").read_text().splitlines()]
        version, *events = records((place / EVENTS).read_bytes())
        self.assertEqual(dict(fields(version))[3], b"brain.Event:2")
        self.assertEqual([dict(fields(event))[2] for event in events], [row["epoch"] for row in rows])
        times = [struct.unpack("<d", dict(fields(event))[1])[0] for event in (version, *events)]
        self.assertEqual(times, sorted(times))
        self.assertLess(abs(times[0] - time.time()), 3600)
        table = list(csv.DictReader((place / "log.csv").read_text().splitlines()))
        self.assertEqual(len(table), len(rows))
        single = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
        for row, event, line in zip(rows, events, table):
            seen = scalars(event)
            expected = {"loss": row["loss"], "train_accuracy": row["train_accuracy"],
                        "learning_rate": row["learning_rate"], "validation/accuracy": row["validation"]["accuracy"],
                        "validation/loss": row["validation"]["loss"]}
            for layer in row["layers"]:
                expected[layer["layer"] + "/prior_entropy"] = layer["prior_entropy"]
                expected[layer["layer"] + "/filters_per_category.1"] = layer["filters_per_category"][1]
            for layer in row["validation"]["layers"]:
                expected["validation/" + layer["layer"] + "/purity"] = layer["purity"]
                expected["validation/" + layer["layer"] + "/dead_share"] = layer["dead_share"]
            self.assertGreater(len(expected), 8)
            for name, value in expected.items():
                self.assertEqual(seen[name], single(value), name)
                self.assertEqual(float(line[name]), value, name)
            self.assertEqual(set(line) - {"epoch"}, set(seen))

    def test_the_logs_of_a_run_are_what_other_programs_read(self):
        self.assert_logs_agree(self.whole)

    def kill_at_random_points(self, chain):
        """Kills one run again and again until it ends, then the next; returns where, and the runs."""
        draw = random.Random(chain)
        kills, places = [], []
        while len(kills) < KILLS // 2:
            place = self.folder / f"killed{chain}-{len(places)}"
            places.append(place)
            while True:
                process = self.start(place)
                try:
                    if len(kills) >= KILLS // 2:
                        process.wait()
                    else:
                        process.wait(timeout=draw.uniform(0.7 * self.until_first_checkpoint, self.until_end))
                except subprocess.TimeoutExpired:
                    process.kill()
                    if process.wait() == -signal.SIGKILL:
                        kills.append(position(place))
                    process.stderr.close()
                    continue
                said = process.stderr.read()
                process.stderr.close()
                self.assertEqual(process.returncode, 0, said)
                break
        return kills, places

    def test_a_run_killed_at_random_points_ends_as_the_uninterrupted_one(self):
        with ThreadPoolExecutor(2) as pool:
            chains = list(pool.map(self.kill_at_random_points, range(2)))
        kills = sum((kills for kills, _ in chains), [])
        print("killed after (epoch, step):", *sorted(kills))
        self.assertGreaterEqual(len(kills), KILLS)
        self.assertGreater(len(set(kills)), 1)
        for place in sum((places for _, places in chains), []):
            self.assert_equals_the_whole_run(place)

    def interrupted(self, place, number):
        """Stopped inside the second epoch."""
        process = self.start(place)
        log = place / "log.jsonl"
        while process.poll() is None and not (log.exists() and log.read_bytes()):
            time.sleep(0.005)
        process.send_signal(number)
        (_, said) = process.communicate()
        return process.returncode, said

    def test_what_a_kill_left_half_written_in_a_trained_run_is_removed(self):
        again = self.folder / "littered"
        shutil.copytree(self.whole, again)
        for place in (again, again / "checkpoints"):
            (place / "model.json.tmp4194304").write_text("{")
        self.assertEqual(self.finish(again)[0], 0)
        self.assert_equals_the_whole_run(again)

    def test_a_signal_saves_the_step_and_says_so(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            place = self.folder / f"interrupted{number}"
            code, said = self.interrupted(place, number)
            self.assertEqual(code, 130, said)
            self.assertEqual(len(said.splitlines()), 1, said)
            self.assertIn("saved", said)
        self.assertEqual(self.finish(place)[0], 0)
        self.assert_equals_the_whole_run(place)

    def test_a_run_in_training_is_refused_to_others(self):
        place = self.folder / "taken"
        process = self.start(place)
        while process.poll() is None and not (place / "checkpoints" / "last.safetensors").exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGSTOP)
        code, said = self.finish(place)
        process.send_signal(signal.SIGCONT)
        (_, first_said) = process.communicate()
        self.assertEqual(code, 1, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("another process is training this run", said)
        self.assertEqual(process.returncode, 0, first_said)
        self.assert_equals_the_whole_run(place)

    def test_without_space_the_last_checkpoint_survives_and_one_line_says_why(self):
        place = self.folder / "full"
        self.assertEqual(self.interrupted(place, signal.SIGTERM)[0], 130)
        before = {path.name: path.read_bytes() for path in (place / "checkpoints").iterdir()}
        # No file may grow beyond what the logs need.
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        code, said = self.finish(place, preexec_fn=limit)
        self.assertEqual(code, 1, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("checkpoints", said)
        self.assertEqual({path.name: path.read_bytes() for path in (place / "checkpoints").iterdir()}, before)
        self.assertEqual(self.finish(place)[0], 0)
        self.assert_equals_the_whole_run(place)

    def test_a_finished_run_is_left_as_it_is_and_brings_its_own_options(self):
        again = self.folder / "again"
        shutil.copytree(self.whole, again)
        content = lambda: {path.name: path.read_bytes() for path in again.rglob("*") if path.is_file()}
        before = content()
        resumed = run("train", self.data, again, "--resume")
        self.assertEqual((resumed.returncode, resumed.stderr), (0, ""))
        self.assertIn("best on 4 validation images", resumed.stdout)
        self.assertEqual(content(), before)
        for option, words in {("--batch", 4): "batch is 2 there and 4 here", ("--epochs", 2): "epochs"}.items():
            refused = run("train", self.data, again, "--resume", *option)
            self.assertEqual(refused.returncode, 1, option)
            self.assertIn(words, refused.stderr)
        self.assertEqual(content(), before)

    def test_what_was_measured_between_two_halves_is_not_taken_for_the_finished_runs(self):
        place, page = self.folder / "halves", self.folder / "halves.html"
        self.assertEqual(self.interrupted(place, signal.SIGINT)[0], 130)
        measure = ("measure", place, "--resamples", 20, "--shuffles", 2, "--threads", 1)
        self.assertEqual(run(*measure).returncode, 0)
        findings = json.loads((place / "findings.json").read_text())
        self.assertEqual((findings["epoch"], findings["step"]), position(place))
        self.assertEqual(run("runs", place).stderr, "")
        self.assertEqual(self.finish(place)[0], 0)
        listed = run("runs", place, "--json")
        self.assertEqual(json.loads(listed.stdout)[0]["state"], "outdated")
        words = f"its findings are of epoch {findings['epoch']}", "its network is at epoch 3;", f"run: partwise measure {place}"
        for said in (listed, run("compare", place, place), run("report", place, "--out", page)):
            self.assertEqual(said.returncode, 0, said.stderr)
            notes = [line for line in said.stderr.splitlines() if all(word in line for word in words)]
            self.assertTrue(notes, said.stderr)
        self.assertIn("its network is at epoch 3;", page.read_text())
        self.assertEqual(run(*measure).returncode, 0)
        self.assertEqual(run("runs", place).stderr, "")

    def test_images_that_were_written_anew_are_named_when_it_goes_on(self):
        again = self.folder / "anew"
        shutil.copytree(self.whole, again)
        image = next((self.data / "images").iterdir())
        before = image.stat()
        os.utime(image, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
        try:
            code, said = self.finish(again)
        finally:
            os.utime(image, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual(code, 0, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("written anew", said)

    def test_the_best_epoch_can_be_measured(self):
        again = self.folder / "measured"
        shutil.copytree(self.whole, again)
        measured = run("measure", again, "--checkpoint", "best", "--resamples", 20)
        self.assertEqual(measured.returncode, 0, measured.stderr)
        self.assertEqual(json.loads((again / "findings.json").read_text())["checkpoint"], "best")
        (again / "checkpoints" / "best.safetensors").unlink()
        missing = run("measure", again, "--checkpoint", "best")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("validation_images", missing.stderr)
        wrong = run("measure", again, "--checkpoint", "first")
        self.assertIn("last, best", wrong.stderr)


if __name__ == "__main__":
    os.environ.update(NO_COLOR="1", OMP_WAIT_POLICY="passive")
    unittest.main(argv=sys.argv[:1])
