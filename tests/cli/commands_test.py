#!/usr/bin/env python3
"""The commands as a user runs them, bad input above all: one clear line, the right exit code, nothing lost."""
import fcntl
import json
import os
import pathlib
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PARTWISE = sys.argv.pop(1)


def run(*arguments, **kwargs):
    return subprocess.run([PARTWISE, *map(str, arguments)], capture_output=True, text=True, **kwargs)


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.data = cls.folder / "animals"
        made = run("data", "synth", cls.data, "--images", 8, "--categories", 3, "--size", 64)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [line for line in result.stderr.splitlines() if line and not line.startswith("working on cuda")]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("partwise: "), lines[0])
        for word in words:
            self.assertIn(word, lines[0])

    def test_check_accepts_what_synth_writes(self):
        checked = run("data", "check", self.data, "--json")
        self.assertEqual(checked.returncode, 0, checked.stderr)
        summary = json.loads(checked.stdout)
        self.assertEqual(len(summary["categories"]), 3)

    def test_every_command_explains_itself_with_an_example(self):
        for command in (["demo"], ["data", "synth"], ["data", "import"], ["data", "check"], ["train"], ["measure"],
                        ["compare"], ["draw"], ["dump"], ["referee"], ["report"], ["export"], ["weights", "inspect"],
                        ["weights", "convert"], ["reproduce"]):
            shown = run(*command, "--help")
            self.assertEqual(shown.returncode, 0)
            self.assertIn("Example", shown.stdout)

    def test_unknown_options_and_commands_are_usage_errors(self):
        self.refused(run("demo", "--sed", "1"), 2, "--sed")
        self.refused(run("dmeo"), 2)
        self.refused(run(), 2)
        self.refused(run("data", "synth", self.folder / "x", "--images", "many"), 2, "--images")

    def test_impossible_values_name_option_and_range(self):
        self.refused(run("data", "synth", self.folder / "x", "--categories", 0), 1, "categories = 0", "[1, 6]")
        self.refused(run("demo", "--out", self.folder / "x", "--categories", 0), 1, "categories = 0")
        self.assertFalse((self.folder / "x").exists())

    def test_a_folder_with_other_things_is_left_alone(self):
        thesis = self.folder / "thesis"
        thesis.mkdir()
        (thesis / "chapter.txt").write_text("precious")
        self.refused(run("demo", "--out", thesis), 1, str(thesis))
        self.refused(run("data", "synth", thesis), 1, str(thesis))
        self.refused(run("train", self.data, thesis), 1, str(thesis))
        self.assertEqual([entry.name for entry in thesis.iterdir()], ["chapter.txt"])

    def test_an_unwritable_place_is_named(self):
        self.refused(run("demo", "--out", "/proc/partwise"), 1, "/proc/partwise")
        blocked = self.folder / "file"
        blocked.write_text("a file")
        self.refused(run("data", "synth", blocked / "below"), 1, str(blocked))
        self.assertEqual(blocked.read_text(), "a file")

    def test_standard_error_that_cannot_be_written_takes_nothing_but_its_words(self):
        def unheard(redirection, *arguments):
            return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", PARTWISE, *map(str, arguments)], stdout=subprocess.PIPE, text=True)

        heard, weights = self.folder / "heard", self.folder / "heard.safetensors"
        self.assertEqual(run("train", self.data, heard, "--epochs", 1).returncode, 0)
        self.assertEqual(run("export", heard, "--out", weights).returncode, 0)
        for number, lost in enumerate(("2>/dev/full", "2>&-")):
            trained = unheard(lost, "train", self.data, self.folder / f"unheard{number}", "--epochs", 1, "--init", weights, "--json")
            self.assertEqual(trained.returncode, 0)
            self.assertEqual(json.loads(trained.stdout)["epochs"], 1)
            self.assertEqual(unheard(lost, "data", "check", self.data).stdout, run("data", "check", self.data).stdout)
            self.assertEqual(unheard(lost + " >/dev/full", "data", "check", self.data).returncode, 1)
            self.assertEqual(unheard(lost, "data", "check", self.folder / "nowhere").returncode, 1)
            self.assertEqual(unheard(lost, "data", "check").returncode, 2)

    def test_a_terminal_behind_standard_error_that_goes_does_not_end_a_training(self):
        ours, theirs = pty.openpty()
        command = [PARTWISE, "train", self.data, self.folder / "left", "--epochs", "3"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
            os.close(theirs)
            os.read(ours, 1)  # how far it is
            os.close(ours)
            self.assertIn("3 epochs", process.communicate(timeout=60)[0])
        self.assertEqual(process.returncode, 0)

    def test_a_terminal_that_closes_ends_a_training_as_ctrl_c_does(self):
        place, text = self.folder / "closed", self.folder / "closed.txt"
        ours, theirs = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        with open(text, "w") as said, subprocess.Popen([PARTWISE, "train", self.data, place, "--epochs", "100000"], stdin=theirs, stdout=theirs,
                                                       stderr=said, preexec_fn=take_terminal) as process:
            os.close(theirs)
            while process.poll() is None and not (place / "log.jsonl").exists():
                time.sleep(0.01)
            os.close(ours)
            process.wait(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("saved", text.read_text().splitlines()[-1])

    def test_a_reader_that_goes_does_not_end_a_training_but_loses_output(self):
        place = self.folder / "unread"
        ours, theirs = os.pipe()
        os.close(ours)
        trained = subprocess.run([PARTWISE, "train", self.data, place, "--epochs", "1"], stdout=subprocess.PIPE, stderr=theirs, text=True)
        self.assertEqual((trained.returncode, "1 epochs" in trained.stdout), (0, True))
        checked = subprocess.run([PARTWISE, "data", "check", self.data], stdout=theirs, stderr=subprocess.PIPE, text=True)
        os.close(theirs)
        self.refused(checked, 1, "the output is lost")

    def test_names_that_are_not_utf8_are_trained_on_measured_and_printed(self):
        data, place = (self.folder / os.fsdecode(name) for name in (b"data\xff", b"r\xff"))
        shutil.copytree(self.data, data)
        trained = run("train", data, place, "--epochs", 1, "--json")
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.assertTrue(json.loads(trained.stdout)["run"].endswith("/r\ufffd"))
        self.refused(run("measure", place), 1, "--data")
        measured = run("measure", place, "--data", data, "--resamples", 20, "--json", "-")
        self.assertEqual(measured.returncode, 0, measured.stderr)
        (name,) = json.loads(measured.stdout)
        self.assertTrue(name.endswith("/r\ufffd"))
        compared = run("compare", place, place, "--json", "-")
        self.assertEqual(compared.returncode, 0, compared.stderr)
        self.assertEqual(json.loads(compared.stdout)["first"], name)

    def test_a_program_that_ignores_its_children_starts_one_that_does_not(self):
        damaged = self.folder / "damaged.mat"
        damaged.write_bytes(b"MATLAB 7.3 MAT-file".ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n" + bytes(40))
        result = run("weights", "inspect", damaged, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.refused(result, 1, "damaged.mat: ")

    def test_damaged_images_are_named(self):
        broken = self.folder / "broken"
        self.assertEqual(run("data", "synth", broken, "--images", 8, "--categories", 2, "--size", 64).returncode, 0)
        victim = sorted((broken / "images").rglob("*.png"))[0]
        victim.write_bytes(victim.read_bytes()[:200])
        checked = run("data", "check", broken)
        self.refused(checked, 1, victim.name)
        trained = run("train", broken, self.folder / "run-broken", "--epochs", 1)
        if trained.returncode != 0:  # the damaged image may be in the test split
            self.refused(trained, 1, victim.name)

    def class_folders(self, place):
        for image in (self.data / "images").glob("*.png"):
            name = image.name.split("-")[0]
            target = place / ("negatives" if name == "negative" else name)
            target.mkdir(parents=True, exist_ok=True)
            (target / image.name).write_bytes(image.read_bytes())
        return place

    def test_class_folders_are_imported_checked_drawn_and_trained_on(self):
        original = self.class_folders(self.folder / "classes")
        (original / "fox" / "empty.png").write_bytes(b"")
        made = self.folder / "imported"
        imported = run("data", "import", "folder", original, made)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        self.assertIn("32 images, 24 objects, 3 categories", imported.stdout)
        self.assertIn("empty.png", imported.stderr)
        self.assertEqual(len(json.loads((made / "skipped.json").read_text())), 1)
        sheets = self.folder / "sheets"
        checked = run("data", "check", made, "--json", "--draw", sheets)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertTrue((sheets / "fox.png").read_bytes().startswith(b"\x89PNG"))
        self.assertEqual(json.loads(checked.stdout)["categories"]["fox"]["objects"], 8)
        moved = made.rename(self.folder / "moved")
        trained = run("train", moved, self.folder / "run-moved", "--task", "binary:fox", "--loss", "logistic", "--epochs", 1)
        self.assertEqual(trained.returncode, 0, trained.stderr)

    def test_impossible_imports_say_what_is_possible(self):
        original = self.class_folders(self.folder / "classes2")
        self.refused(run("data", "import", "coc", original, self.folder / "i"), 1, "coc", "animal-part", "folder")
        self.refused(run("data", "import", "folder", original, self.folder / "i", "--category", "fxo"), 1, "fxo", "fox")
        self.refused(run("data", "import", "folder", original, self.folder / "i", "--protocol", "dirty"), 1, "clean", "paper")
        self.refused(run("data", "import", "cub200", original, self.folder / "i"), 1, "images.txt")
        self.refused(run("data", "import", "coco", original, self.folder / "i"), 1, "json")
        self.refused(run("data", "import", "folder", self.folder / "nowhere", self.folder / "i"), 1, "nowhere")
        self.refused(run("data", "import", "folder", original, original), 1, str(original))
        (original / "fox" / "empty.png").write_bytes(b"")
        self.refused(run("data", "import", "folder", original, self.folder / "s", "--strict"), 1, "empty.png")
        self.assertFalse((self.folder / "i").exists())

    def test_broken_descriptions_are_named(self):
        for number, text in enumerate(["", "[]", "{\"images\": 3}", "{\"images\": [{\"id\": 1e99}]}", "nonsense"]):
            place = self.folder / f"description{number}"
            place.mkdir()
            (place / "dataset.json").write_text(text)
            self.refused(run("data", "check", place), 1, "dataset.json")
        self.refused(run("train", self.folder / "nowhere", self.folder / "r"), 1, "nowhere")

    def test_impossible_tasks_are_refused_before_anything_is_written(self):
        run_folder = self.folder / "impossible"
        self.refused(run("train", self.data, run_folder, "--task", "binary:unicorn", "--loss", "logistic"), 1,
                     "unicorn", "fox")
        self.refused(run("train", self.data, run_folder, "--task", "binary:fox"), 1, "logistic")
        self.refused(run("train", self.data, run_folder, "--net", "tinny"), 1, "tiny")
        self.refused(run("train", self.data, run_folder, "--set", "learningrate=1"), 1, "learning_rate")
        self.refused(run("train", self.data, run_folder, "--device", "cuda:99"), 1, "cuda:99")
        self.refused(run("train", self.data, run_folder, "--stop-on", "purity"), 1, "validation_images")
        self.refused(run("train", self.data, run_folder, "--validation-images", 1000), 1, "more than half")
        self.assertFalse(run_folder.exists())

    def test_data_of_one_class_are_refused_before_anything_is_written(self):
        foxes, run_folder = self.folder / "foxes", self.folder / "one-class"
        shutil.copytree(self.data, foxes)
        described = json.loads((foxes / "dataset.json").read_text())
        (fox,) = [one["id"] for one in described["categories"] if one["name"] == "fox"]
        shown = {one["image_id"] for one in described["annotations"] if one["category_id"] == fox}
        described["splits"]["train"] = [image for image in described["splits"]["train"] if image in shown]
        (foxes / "dataset.json").write_text(json.dumps(described))
        self.refused(run("train", foxes, run_folder), 1, "nothing but fox", "two classes")
        self.refused(run("train", foxes, run_folder, "--task", "binary:fox", "--loss", "logistic"), 1, "nothing but fox")
        described["categories"] = [one for one in described["categories"] if one["id"] == fox]
        described["annotations"] = [one for one in described["annotations"] if one["category_id"] == fox]
        (foxes / "dataset.json").write_text(json.dumps(described))
        self.refused(run("train", foxes, run_folder), 1, "two categories", "binary:NAME")
        self.assertFalse(run_folder.exists())

    def test_flags_beat_the_config_file_and_its_errors_name_it(self):
        config = self.folder / "config.json"
        config.write_text('{"epochs": 7, "arm": "masked"}')
        made = run("train", self.data, self.folder / "configured", "--config", config, "--epochs", 1)
        self.assertEqual(made.returncode, 0, made.stderr)
        options = json.loads((self.folder / "configured" / "options.json").read_text())
        self.assertEqual((options["epochs"], options["arm"]), (1, "masked"))
        config.write_text('{"epoch": 7}')
        self.refused(run("train", self.data, self.folder / "c2", "--config", config), 1, "config.json", "epochs")

    def test_a_method_sets_its_options_and_single_ones_beat_it(self):
        config = self.folder / "method.json"
        config.write_text('{"method": "paper", "strength": 0.2}')
        made = run("train", self.data, self.folder / "method", "--config", config, "--peak", "centroid", "--epochs", 1)
        self.assertEqual(made.returncode, 0, made.stderr)
        options = json.loads((self.folder / "method" / "options.json").read_text())
        self.assertEqual([options[key] for key in ("method", "rule", "exponent", "strength", "peak", "beta_rule")],
                         ["paper", "paper", "raw", 0.2, "centroid", "fixed"])
        self.refused(run("train", self.data, self.folder / "m2", "--method", "papper"), 1, "partwise, paper, release", "'paper'")

    def test_a_binary_task_trains_measures_and_reports(self):
        fox = self.folder / "fox"
        trained = run("train", self.data, fox, "--task", "binary:fox", "--loss", "logistic", "--epochs", 2)
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.refused(run("train", self.data, fox), 1, "--resume")
        self.refused(run("report", fox, "--out", self.folder / "fox.html"), 1, "partwise measure")
        measured = run("measure", fox, "--json", self.folder / "fox.json", "--resamples", 50)
        self.assertEqual(measured.returncode, 0, measured.stderr)
        findings = json.loads((self.folder / "fox.json").read_text())[str(fox)]
        self.assertEqual(findings["classes"], ["not fox", "fox"])
        for layer in findings["layers"]:
            for key in ("purity", "location_instability", "part_interpretability"):
                self.assertEqual(set(layer[key]) >= {"value", "low", "high", "controls", "layer"}, True)
        reported = run("report", fox, "--out", self.folder / "fox.html")
        self.assertEqual(reported.returncode, 0, reported.stderr)
        self.assertIn("<html", (self.folder / "fox.html").read_text()[:200])

    def put_nan(self, source, name, target):
        content = bytearray(source.read_bytes())
        (length,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8:8 + length])
        del header["__metadata__"]["content_hash"]
        data = content[8 + length:]
        struct.pack_into("<f", data, header[name]["data_offsets"][0], float("nan"))
        text = json.dumps(header).encode()
        target.write_bytes(struct.pack("<Q", len(text)) + text + data)

    def test_a_trained_run_is_exported_and_others_are_refused(self):
        place, model = self.folder / "exported", self.folder / "model.onnx"
        self.refused(run("export", self.folder / "nowhere", "--out", model), 1, "nowhere")
        self.refused(run("export", self.data, "--out", model), 1, str(self.data), "not a run")
        self.refused(run("export", place), 2, "--out")
        self.assertEqual(run("train", self.data, place, "--epochs", 1).returncode, 0)
        exported = run("export", place, "--out", model)
        self.assertEqual((exported.returncode, exported.stderr), (0, ""))
        content = model.read_bytes()
        for word in (b"new.masked", b"conv4.peaks", b"filter_categories", b"pixel_mean", b"0.485", b"fox"):
            self.assertIn(word, content)
        weights = self.folder / "model.safetensors"
        self.assertEqual(run("export", place, "--out", weights).returncode, 0)
        shown = json.loads(run("weights", "inspect", weights, "--json").stdout)
        self.assertEqual(shown["metadata"]["net"], "tiny")
        self.assertNotIn(b"optimizer.", weights.read_bytes())
        self.refused(run("train", self.data, self.folder / "started", "--init", self.data / "dataset.json"), 1, "dataset.json")
        self.assertFalse((self.folder / "started").exists())
        broken = self.folder / "nan.safetensors"
        self.put_nan(weights, "conv2.weight", broken)
        self.refused(run("train", self.data, self.folder / "started", "--init", broken), 1, "nan.safetensors", "conv2.weight")
        self.assertFalse((self.folder / "started").exists())
        started = run("train", self.data, self.folder / "started", "--epochs", 1, "--init", weights)
        self.assertEqual(started.returncode, 0, started.stderr)
        for blocked in (self.folder, self.folder / "no" / "model.onnx", pathlib.Path("/proc/model.onnx")):
            self.refused(run("export", place, "--out", blocked), 1, str(blocked))
        for checkpoint in (place / "checkpoints").iterdir():
            checkpoint.unlink()
        self.refused(run("export", place, "--out", model), 1, str(place), "train it first")
        self.assertEqual(model.read_bytes(), content)

    def test_a_run_folder_alone_in_an_empty_place_is_enough(self):
        original, data = self.folder / "at-home", self.folder / "its-data"
        shutil.copytree(self.data, data)
        trained = run("train", data, original, "--epochs", 1, "--task", "binary:fox", "--loss", "logistic", "--arm", "masked")
        self.assertEqual(trained.returncode, 0, trained.stderr)

        def judged(place, *more):
            model, dump, found = (self.folder / name for name in ("alone.onnx", "alone.safetensors", "alone.json"))
            for arguments in (["export", place, "--out", model],
                              ["dump", place, "--layer", "conv4", "--out", dump, *more],
                              ["measure", place, "--resamples", 20, "--json", found, *more]):
                done = run(*arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
            findings = json.loads(found.read_text())[str(place)]
            return model.read_bytes(), dump.read_bytes(), findings

        expected = judged(original)
        with tempfile.TemporaryDirectory() as empty:
            alone, elsewhere = pathlib.Path(empty) / "run", pathlib.Path(empty) / "data"
            shutil.move(original, alone)
            shutil.move(data, elsewhere)
            description = json.loads((alone / "model.json").read_text())
            self.assertEqual(description["classes"], ["not fox", "fox"])
            self.assertEqual(description["parts"]["strength"], 0)
            self.assertEqual([(one["layer"], one["rule"]) for one in description["filter_categories"]][:2],
                             [("conv4", "memory"), ("new", "memory")])
            self.assertNotIn(str(self.folder), (alone / "model.json").read_text())
            self.refused(run("measure", alone), 1, str(data), "--data")
            self.refused(run("dump", alone, "--layer", "conv4", "--out", self.folder / "x.safetensors"), 1, str(data), "--data")
            self.assertEqual(judged(alone, "--data", elsewhere), expected)
            (alone / "model.json").unlink()  # as an older program left it
            self.refused(run("export", alone, "--out", self.folder / "x.onnx"), 1, str(data), "--data")
            older = run("export", alone, "--out", self.folder / "x.onnx", "--data", elsewhere)
            self.assertEqual(older.returncode, 0, older.stderr)
            self.assertEqual((self.folder / "x.onnx").read_bytes(), expected[0])

    def test_a_damaged_checkpoint_is_not_measured_but_made_again_from_the_one_before(self):
        place = self.folder / "checkpointed"
        self.assertEqual(run("train", self.data, place, "--epochs", 2).returncode, 0)
        last = place / "checkpoints" / "last.safetensors"
        sound = last.read_bytes()
        last.write_bytes(sound[:-5])
        self.refused(run("measure", place, "--resamples", 20), 1, "last.safetensors", "--resume")
        resumed = run("train", self.data, place, "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertIn("last.safetensors", resumed.stderr)
        self.assertEqual(run("measure", place, "--resamples", 20).returncode, 0)

    def test_weights_are_inspected_and_converted(self):
        source, half = self.folder / "net.bin", self.folder / "half.safetensors"
        header = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "__metadata__": {"net": "x"}}
        packed = json.dumps(header).encode()
        source.write_bytes(struct.pack("<Q", len(packed)) + packed + struct.pack("<2f", 1.5, -2))
        shown = run("weights", "inspect", source)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("F32   [2]  min -2", shown.stdout)
        converted = run("weights", "convert", source, half, "--dtype", "f16")
        self.assertEqual(converted.returncode, 0, converted.stderr)
        summary = json.loads(run("weights", "inspect", half, "--json").stdout)
        self.assertEqual(summary["arrays"][0]["dtype"], "F16")
        self.assertEqual((summary["arrays"][0]["min"], summary["arrays"][0]["max"]), (-2, 1.5))
        self.assertEqual(summary["metadata"]["net"], "x")

    def test_weights_that_are_none_are_refused(self):
        page = self.folder / "page.pth"
        page.write_text("<html>not found</html>")
        self.refused(run("weights", "inspect", page), 1, "page.pth", "web page")
        self.refused(run("weights", "inspect", self.folder / "nothing.pth"), 1, "nothing.pth")
        self.refused(run("weights", "inspect", self.folder), 1, "folder")
        self.refused(run("weights", "convert", page, self.folder / "out.pth"), 1, "out.pth", ".safetensors")
        self.refused(run("weights", "convert", page, self.folder / "o.safetensors", "--dtype", "f15"), 1, "f15", "f16")
        self.refused(run("weights"), 2)


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    unittest.main(argv=sys.argv[:1])
