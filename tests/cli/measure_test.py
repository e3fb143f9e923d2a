#!/usr/bin/env python3
"""`measure --all`, `compare`, `dump` and `referee` on two small runs: the referee must find what measure found, also in
activations that another program wrote, and refuse in one line what cannot be judged."""
import csv
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from commands_fixture import PARTWISE, Commands, run

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background has it ignored, for the program too

QUICK = ["--resamples", "20", "--shuffles", "4"]
DTYPES = {"F32": ("f", 4), "F16": ("e", 2), "I64": ("q", 8)}


def read_safetensors(path):
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + length])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        code, size = DTYPES[entry["dtype"]]
        data = content[8 + length + begin:8 + length + end]
        arrays[name] = (entry["dtype"], entry["shape"], list(struct.unpack(f"<{len(data) // size}{code}", data)))
    return arrays, metadata


def write_safetensors(path, arrays, metadata):
    """As a stranger would: no checksum, arrays in the order of their names, odd padding."""
    header, data = {"__metadata__": metadata}, b""
    for name, (dtype, shape, values) in sorted(arrays.items()):
        code, _ = DTYPES[dtype]
        packed = struct.pack(f"<{len(values)}{code}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def catches(process, number):
    """Whether it has come so far that it handles this signal."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(status.partition("SigCgt:")[2].split()[0], 16) >> (number - 1) & 1


class Measuring(Commands):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.folder / "animals"
        cls.fox, cls.multi, cls.other = (cls.folder / name for name in ("fox", "multi", "other"))
        cls.done("data", "synth", cls.data, "--images", 9, "--categories", 2, "--size", 64)
        cls.done("train", cls.data, cls.multi, "--epochs", 1)
        cls.done("train", cls.data, cls.other, "--epochs", 1, "--arm", "ordinary+layer")
        cls.done("train", cls.data, cls.fox, "--task", "binary:fox", "--loss", "logistic", "--epochs", 1, "--arm", "masked")

    def measured(self, place, *more):
        out = self.folder / "measured.json"
        result = self.done("measure", place, "--json", out, *QUICK, *more)
        return json.loads(out.read_text())[str(place)], result

    def judged(self, dump, *more):
        out = self.folder / "judged.json"
        result = self.done("referee", dump, "--data", self.data, "--json", out, *QUICK, *more)
        return json.loads(out.read_text()), result

    def same(self, measured, judged):
        ours, theirs = dict(measured), dict(judged)
        for only_there in ("role", "cards", "part_stability"):
            ours.pop(only_there, None)
        self.assertEqual(ours, theirs)

    def test_the_referee_finds_what_measure_found(self):
        for place, layers in ((self.multi, (0, 1)), (self.fox, (1,))):
            findings, _ = self.measured(place, "--all")
            for layer in (findings["layers"][index] for index in layers):
                dump = self.folder / "dump.safetensors"
                self.done("dump", place, "--layer", layer["layer"], "--out", dump, "--train-rows")
                judged, _ = self.judged(dump, "--all")
                self.same(layer, judged["layers"][0])
                self.assertEqual(judged["category_from"], "dump")
                self.assertEqual(judged["rows"], findings["rows"])
            self.stranger_is_judged_alike(dump, layer, judged)

    def stranger_is_judged_alike(self, dump, layer, judged):
        arrays, metadata = read_safetensors(dump)
        self.assertEqual(metadata["layer"], layer["layer"])
        self.assertEqual(metadata["split"], "test")
        self.assertEqual(float(metadata["unit_stride"]), layer["unit_stride"])
        self.assertEqual(arrays["maps"][1][1:], [layer["filters"], layer["side"], layer["side"]])
        stranger = self.folder / "stranger.safetensors"
        metadata.pop("content_hash")
        write_safetensors(stranger, arrays, metadata)
        self.assertEqual(self.judged(stranger, "--all")[0], judged)
        del arrays["category"]  # the training rows say the same
        write_safetensors(stranger, arrays, metadata)
        assigned = self.judged(stranger, "--all")[0]
        self.assertEqual(assigned["category_from"], "train")
        self.same(layer, assigned["layers"][0])

    def test_a_dump_of_one_split_has_no_training_rows(self):
        dump = self.folder / "test.safetensors"
        self.done("dump", self.multi, "--layer", "conv4", "--out", dump)
        arrays, metadata = read_safetensors(dump)
        self.assertEqual(sorted(arrays), ["annotation", "category", "maps", "masked"])
        self.assertEqual(sorted(set(metadata) - {"content_hash", "task"}),
                         ["input_side", "layer", "net", "split", "unit_offset", "unit_stride"])
        whole = dump.stat().st_size
        judged, _ = self.judged(dump, "--metrics", "single_filter")
        self.assertIsNone(judged["layers"][0]["single_filter_balanced_accuracy"]["value"])
        findings, _ = self.measured(self.multi)
        self.assertEqual(judged["layers"][0]["purity"], findings["layers"][0]["purity"])
        del arrays["category"], arrays["masked"]
        write_safetensors(dump, arrays, {key: metadata[key] for key in ("input_side", "unit_stride", "unit_offset")})
        judged, said = self.judged(dump)
        self.assertEqual(judged["category_from"], "judged rows")
        self.assertIn("flattered", said.stderr)
        half = self.folder / "half.safetensors"
        self.done("dump", self.multi, "--layer", "conv4", "--out", half, "--half")
        self.assertEqual(read_safetensors(half)[0]["maps"][0], "F16")
        self.assertLess(half.stat().st_size, 0.6 * whole)
        self.judged(half)

    def test_extras_are_measured_on_demand_and_training_images_named(self):
        plain, said = self.measured(self.multi)
        self.assertNotIn("single_filter_accuracy", plain["layers"][0])
        self.assertEqual(plain["training_images"], 0)
        self.assertNotIn("note", said.stderr)
        tables = {kind: self.folder / f"table.{kind}" for kind in ("csv", "markdown", "latex")}
        options = [word for kind, path in tables.items() for word in (f"--{kind}", path)]
        full, said = self.measured(self.multi, "--all", "--split", "all", "--random-control", *options)
        self.assertEqual(said.stderr.count("trained on"), 1)
        self.assertEqual(full["training_images"], full["train_rows"])
        self.assertIn("single_filter_accuracy", said.stdout)
        for layer in full["layers"]:
            for key in ("single_filter_accuracy", "single_filter_balanced_accuracy", "single_filter_auc",
                        "activation_on_target", "activation_on_other", "part_label_iou", "detectors_2017",
                        "detectors_2020", "patch_purity", "part_consistency", "part_stability", "class_selectivity"):
                self.assertLessEqual({"value", "low", "high", "controls", "layer"}, set(layer[key]), key)
                self.assertIn("random_weights", layer[key]["controls"])
            self.assertIn("scattered", layer["purity"]["controls"])
        rows = list(csv.DictReader(tables["csv"].read_text().splitlines()))
        purity = [row for row in rows if row["metric"] == "purity" and row["kind"] == "measured"]
        self.assertEqual([float(row["value"]) for row in purity], [layer["purity"]["value"] for layer in full["layers"]])
        self.assertEqual(purity[0]["training_images"], str(full["train_rows"]))
        self.assertIn("| purity |", tables["markdown"].read_text())
        self.assertIn("\\end{tabular}", tables["latex"].read_text())
        self.refused(run("measure", self.multi, "--metrics", "part_lables"), "part_lables", "part_labels")

    def test_compare_pairs_runs_on_the_same_images(self):
        out = self.folder / "compared.json"
        findings, _ = self.measured(self.other)
        self.measured(self.multi, "--metrics", "class_selectivity")
        for place in (self.other, self.multi):  # nothing but the findings is needed
            shutil.copytree(place, self.folder / f"{place.name}-alone", ignore=shutil.ignore_patterns("checkpoints"))
        other, multi = (self.folder / f"{place.name}-alone" for place in (self.other, self.multi))
        shown = self.done("compare", other, multi, "--json", out)
        self.assertEqual(shown.stderr, "")
        compared = json.loads(out.read_text())
        self.assertEqual(len(compared["comparisons"]), 2 + 2 * 7)
        for line in compared["comparisons"]:
            self.assertTrue(line["paired"])
            if line["difference"] is None:
                continue
            self.assertAlmostEqual(line["difference"], line["second"] - line["first"])
            leaves_out_0 = line["low"] > 0 or line["high"] < 0
            self.assertEqual(line["verdict"] != "not distinguishable", leaves_out_0)
        self.assertIn("not distinguishable", shown.stdout)
        first = {(line["layer"], line["metric"]): line["first"] for line in compared["comparisons"]}
        for layer in findings["layers"]:
            self.assertEqual(first[layer["role"], "purity"], layer["purity"]["value"])
        self.done("compare", multi, other, "--json", out)
        for there, back in zip(compared["comparisons"], json.loads(out.read_text())["comparisons"]):
            self.assertEqual((there["metric"], there["low"]), (back["metric"], None if back["high"] is None else -back["high"]))
        self.done("compare", multi, multi, "--json", out)
        for line in json.loads(out.read_text())["comparisons"]:
            self.assertIn(line["verdict"], ("not distinguishable", "not defined"))
        self.done("compare", other, multi, "--data", self.data, "--split", "test")
        self.refused(run("compare", other, multi, "--split", "all"), "split 'test'", f"partwise measure {other} --split all")
        self.refused(run("compare", other, multi, "--metrics", "class_selectivity"), str(other), "--metrics class_selectivity")
        self.refused(run("compare", other, multi, "--metrics", "class_selectivty"), "class_selectivity")
        another = self.folder / "another"
        self.done("data", "synth", another, "--images", 9, "--categories", 2, "--size", 64, "--seed", 5)
        self.refused(run("compare", other, multi, "--data", another), "other data", f"partwise measure {other} --data {another}")
        self.unpaired_runs_are_compared_all_the_same(other, multi, compared)

    def unpaired_runs_are_compared_all_the_same(self, other, multi, compared):
        out = self.folder / "unpaired.json"
        for change in ("an older program", "other draws"):
            if change == "an older program":
                findings = json.loads((multi / "findings.json").read_text())
                for key in ("draws", "options", "data_hash", "checksum"):
                    del findings[key]
                (multi / "findings.json").write_text(json.dumps(findings))
                (multi / "draws.safetensors").unlink()
            else:
                shutil.copy(other / "draws.safetensors", multi)
                findings["draws"] = {"file": "draws.safetensors", "hash": "0" * 16}
                (multi / "findings.json").write_text(json.dumps(findings))
            said = self.done("compare", other, multi, "--json", out)
            self.assertIn("not paired", said.stderr)
            self.assertIn(f"partwise measure {other} {multi}", said.stderr)
            for paired, line in zip(compared["comparisons"], json.loads(out.read_text())["comparisons"]):
                self.assertEqual(paired["difference"], line["difference"])
                self.assertFalse(line["paired"])
            self.done("report", other, multi, "--out", self.folder / "unpaired.html")
            self.assertIn("image by image", (self.folder / "unpaired.html").read_text())

    def test_networks_are_attacked_on_request(self):
        few = ["--metrics", "adversarial_distortion", "--attack-images", 2, "--attack-steps", 3, "--attack-searches", 2]
        findings, shown = self.measured(self.fox, *few)
        for key in ("adversarial_distortion", "adversarial_distortion_cw"):
            self.assertEqual(findings[key]["images"], 2)
            self.assertIn("random_direction", findings[key]["controls"])
            self.assertIn(key, shown.stdout)
            if findings[key]["success_share"] > 0:
                self.assertGreater(findings[key]["value"], 0)
        self.assertEqual(self.measured(self.fox, *few)[0], findings)
        self.assertNotIn("adversarial_distortion", self.measured(self.fox, "--all")[0])
        self.refused(run("measure", self.fox, "--attack-images", 0, *few[:2]), "attack_images")
        dump = self.folder / "attacked.safetensors"
        self.done("dump", self.fox, "--layer", "conv4", "--out", dump)
        self.refused(run("referee", dump, "--data", self.data, *few[:2]), "adversarial_distortion", "part_labels")

    def test_a_signal_ends_it_at_once_and_leaves_what_was_measured_before(self):
        self.measured(self.multi)
        before = (self.multi / "findings.json").read_bytes()
        for one in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([PARTWISE, "measure", self.multi, "--metrics", "adversarial_distortion", "--resamples", "100000"],
                                       stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            while not catches(process.pid, one):
                time.sleep(0.05)
            time.sleep(1)  # anywhere between its start and the attacks, which take minutes
            asked = time.monotonic()
            process.send_signal(one)
            errors = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 130, errors)
            self.assertLess(time.monotonic() - asked, 5.0)  # idle: some milliseconds
            self.assertIn("interrupted while measuring", errors)
        self.assertEqual((self.multi / "findings.json").read_bytes(), before)

    def test_activations_need_a_folder_for_temporary_files(self):
        nowhere = subprocess.run([PARTWISE, "measure", self.fox], capture_output=True, text=True,
                                 env={**os.environ, "TMPDIR": str(self.folder / "nowhere")})
        self.refused(nowhere, "TMPDIR")

    def test_the_parts_filters_stand_for_are_printed(self):
        findings, shown = self.measured(self.multi, "--metrics", "part_labels")
        shares = findings["layers"][0]["part_label_iou"]["share_of_filters"]
        for category in findings["categories"]:
            for part in shares[category]:
                self.assertRegex(shown.stdout, f"filters of {category}: .*{part} [0-9-]")

    def test_runs_on_other_data_or_tasks_are_not_compared(self):
        moved, bare = self.folder / "moved", self.folder / "bare"
        shutil.copytree(self.fox, bare, ignore=shutil.ignore_patterns("findings.json"))
        self.measured(self.multi)
        self.measured(self.fox)
        self.refused(run("compare", self.multi, self.fox), "task", "binary:fox")
        shutil.copytree(self.multi, moved)
        findings = json.loads((moved / "findings.json").read_text())
        findings["data_hash"] = "0" * 16
        del findings["checksum"]  # as whoever changes the file by hand
        (moved / "findings.json").write_text(json.dumps(findings))
        self.refused(run("compare", self.multi, moved), "data", str(moved))
        self.refused(run("compare", self.multi, bare), str(bare), "has not been measured", f"partwise measure {bare}")
        self.refused(run("compare", self.multi, self.folder / "nowhere"), "nowhere")
        self.assertEqual(run("compare", self.multi).returncode, 2)

    def test_what_cannot_be_dumped_or_judged_is_refused_in_one_line(self):
        dump, bad = self.folder / "good.safetensors", self.folder / "bad.safetensors"
        self.refused(run("dump", self.multi, "--layer", "conv9", "--out", dump), "conv9", "conv4")
        self.refused(run("dump", self.multi, "--layer", "conv4", "--out", self.folder / "x.npz"), ".safetensors")
        self.refused(run("dump", self.multi, "--layer", "conv4", "--split", "tset", "--out", dump), "tset", "test")
        self.assertFalse(dump.exists())
        self.done("dump", self.multi, "--layer", "conv4", "--out", dump)
        whole, metadata = read_safetensors(dump)
        metadata.pop("content_hash")

        def broken(change, *words):
            arrays, texts = {name: (d, list(s), list(v)) for name, (d, s, v) in whole.items()}, dict(metadata)
            change(arrays, texts)
            write_safetensors(bad, arrays, texts)
            self.refused(run("referee", bad, "--data", self.data), "bad.safetensors", *words)

        rows, filters, side, _ = whole["maps"][1]
        broken(lambda arrays, _: arrays.pop("maps"), "maps")
        broken(lambda arrays, _: arrays.pop("annotation"), "annotation")
        broken(lambda _, texts: texts.pop("input_side"), "input_side")
        broken(lambda arrays, _: arrays["maps"][2].__setitem__(5, float("nan")), "nan", "row 0, filter 0")
        broken(lambda arrays, _: arrays["maps"][2].__setitem__(-1, -1.0), f"row {rows - 1}, filter {filters - 1}")
        broken(lambda arrays, _: arrays["annotation"][2].__setitem__(2, 999999), "row 2", "999999", "dataset.json")
        broken(lambda arrays, _: arrays["category"][2].__setitem__(1, 77), "filter 1", "77")
        broken(lambda arrays, _: arrays.update(annotation=("I64", [rows - 1], whole["annotation"][2][1:])), f"[{rows}]")
        broken(lambda arrays, _: arrays.update(maps=("F32", [rows, filters, side * side, 1], whole["maps"][2])), "n, n")
        bad.write_bytes(dump.read_bytes()[:-9])
        self.refused(run("referee", bad, "--data", self.data), "bad.safetensors")
        bad.write_text("<html>")
        self.refused(run("referee", bad, "--data", self.data), "bad.safetensors")
        self.refused(run("referee", dump, "--data", self.folder / "nowhere"), "nowhere")
        self.refused(run("referee", dump, "--data", self.data, "--split", "tset"), "tset", "test")


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    unittest.main(argv=sys.argv[:1])
