#!/usr/bin/env python3
"""What people meet around the commands: version, help, completion, manual, the list of runs, --quiet, --json on standard output, more epochs."""
import json
import pathlib
import re
import resource
import shutil
import subprocess
import unittest

from commands_fixture import PARTWISE, Commands, run


def listed_options(text):
    """Those of a command's --help."""
    return set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", text))


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


class Pages(Commands):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.script = cls.folder / "partwise.bash"
        cls.script.write_text(cls.done("completion", "bash").stdout)
        cls.commands = {}
        top = cls.done("--help").stdout
        for name in cls.names_in(top):
            inner = cls.done(name, "--help").stdout
            below = cls.names_in(inner) if name in ("data", "weights") else []
            cls.commands.update({f"{name} {one}": cls.done(name, one, "--help").stdout for one in below} or {name: inner})

    @staticmethod
    def names_in(text):
        return re.findall(r"(?m)^  ([a-z]+) ", text.partition("Subcommands:")[2])

    def test_the_version_is_said_without_waiting_for_libtorch(self):
        best = 1.0
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            result = run("--version")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            self.assertRegex(result.stdout, r"^partwise \d+\.\d+\.\d+ \(commit .*, LibTorch \d+\.\d+.*\)\n$")
        self.assertLess(best, 0.05)  # CPU time: a busy machine's clock says nothing
        program = subprocess.run([pathlib.Path(PARTWISE).parent / "libexec" / "partwise-program", "--version"], capture_output=True, text=True)
        self.assertEqual(program.stdout, result.stdout)

    def test_what_people_call_says_why_the_program_cannot_be_started(self):
        alone = self.folder / "bin" / "partwise"
        alone.parent.mkdir()
        shutil.copy(PARTWISE, alone)
        for reason in ("No such file", "Permission denied"):
            self.refused(subprocess.run([alone, "runs"], capture_output=True, text=True), str(alone), reason, "install it again")
            (alone.parent / "libexec").mkdir(exist_ok=True)
            (alone.parent / "libexec" / "partwise-program").touch(0o600)

    def test_help_lists_the_exit_codes(self):
        for code in ("0", "1", "2", "3", "130"):
            self.assertRegex(run("--help").stdout, rf"(?m)^  {code} +\w")

    def complete(self, *words):
        """What bash offers for the last of these words."""
        listed = " ".join(f"'{word}'" for word in words)
        asked = f'. {self.script}; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _partwise; printf "%s\\n" "${{COMPREPLY[@]}}"'
        result = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()

    def test_bash_completes_commands_options_and_choices(self):
        self.assertEqual(self.complete("partwise", "mea"), ["measure"])
        self.assertEqual(self.complete("partwise", "data", ""), ["synth", "import", "check", "-h", "--help"])
        self.assertEqual(self.complete("partwise", "data", "synth", "animals", "--im"), ["--images"])
        self.assertEqual(self.complete("partwise", "train", "animals", "r", "--arm", "ma"), ["masked"])
        self.assertEqual(self.complete("partwise", "train", "animals", ""), [])  # files, by bash itself
        for name, text in self.commands.items():
            self.assertEqual(set(self.complete("partwise", *name.split(), "--")), listed_options(text), name)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh_takes_the_script(self):
        script = self.folder / "_partwise"
        script.write_text(self.done("completion", "zsh").stdout)
        subprocess.run(["zsh", "-n", script], check=True)

    def test_zshs_script_knows_every_option(self):
        script = self.done("completion", "zsh").stdout
        self.assertTrue(script.startswith("#compdef partwise\n"))
        for name, text in self.commands.items():
            function = script.partition(f"\n_partwise_{name.replace(' ', '_')}() {{")[2].partition("\n}\n")[0]
            self.assertLessEqual(listed_options(text), set(re.findall(r"'\*(--[a-z-]+)\[", function)), name)

    def test_the_manual_has_every_option_and_groff_has_nothing_to_say(self):
        page = self.done("manual").stdout
        plain = page.replace("\\-", "-")
        for name, text in self.commands.items():
            section = plain.partition(f".SS partwise {name} ")[2].partition("\n.SS ")[0]
            self.assertTrue(section, name)
            self.assertLessEqual(listed_options(text), options_in(section), name)
        if shutil.which("groff"):
            result = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True)
            self.assertEqual(result.stderr, "")
            self.assertGreater(len(result.stdout), len(page) // 2)


class Runs(Commands):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.folder / "animals"
        cls.done("data", "synth", cls.data, "--images", 8, "--categories", 2, "--size", 48)
        cls.net = cls.folder / "runs" / "a"
        cls.trained = cls.done("train", cls.data, cls.net, "--epochs", 1, "--batch", 8, "--json")
        cls.measured = cls.done("measure", cls.net, "--resamples", 20, "--shuffles", 2, "--json", "-")

    def test_are_listed(self):
        self.done("train", self.data, self.folder / "runs" / "deep" / "b", "--epochs", 1, "--batch", 8, "--arm", "masked")
        lines = self.done("runs", self.folder / "runs").stdout.splitlines()
        self.assertEqual(len(lines), 3, lines)
        for line, words in zip(lines[1:], (("runs/a", "interpretable", "(test)", "measured"), ("deep/b", "masked", "trained"))):
            for word in words:
                self.assertIn(word, line)
        listed = json.loads(self.done("runs", self.folder / "runs", "--json").stdout)
        self.assertEqual([entry["state"] for entry in listed], ["measured", "trained"])
        self.assertEqual(listed[0]["epochs"], 1)
        self.assertIn("no runs", self.done("runs", self.data).stdout)

    def test_json_goes_to_standard_output_alone(self):
        self.assertEqual(json.loads(self.trained.stdout)["epochs"], 1)
        self.assertEqual(list(json.loads(self.measured.stdout)), [str(self.net)])
        self.assertIn("comparisons", json.loads(self.done("compare", self.net, self.net, "--json", "-").stdout))
        self.assertEqual(json.loads(self.done("errors", self.net, "--json").stdout)["split"], "test")
        dump = self.folder / "dump.safetensors"
        self.done("dump", self.net, "--layer", "conv4", "--out", dump)
        self.assertIn("layers", json.loads(self.done("referee", dump, "--data", self.data, "--resamples", 20, "--json", "-").stdout))

    def test_json_into_a_log_by_way_of_standard_output_stands_between_what_else_is_there(self):
        log = self.folder / "log.txt"
        for mode, before in (("a", "earlier\n"), ("w", "")):
            log.write_text("earlier\n")
            with log.open(mode) as file:
                command = [PARTWISE, "compare", self.net, self.net, "--json", "/dev/stdout"]
                result = subprocess.run(list(map(str, command)), stdout=file, stderr=subprocess.PIPE, text=True)
            self.assertEqual(result.returncode, 0, result.stderr)
            text = log.read_text()
            self.assertTrue(text.startswith(before + "{"), text)
            found, end = json.JSONDecoder().raw_decode(text, len(before))
            self.assertIn("comparisons", found)
            self.assertIn(f"first   {self.net}", text[end:])

    def test_what_a_run_says_of_itself_is_no_command_to_the_terminal(self):
        place = self.folder / "hostile"
        shutil.copytree(self.net, place)
        found = json.loads((place / "findings.json").read_text())
        del found["checksum"]
        (place / "findings.json").write_text(json.dumps({**found, "split": "test\x1b[2J\nforged"}))
        for command in (("runs", place), ("compare", place, place)):
            printed = self.done(*command).stdout
            self.assertNotIn("\x1b", printed)
            self.assertIn("test\\x1b[2J\\x0aforged", printed)

    def test_quiet_leaves_results_and_errors(self):
        loud = self.done("names", self.net, "--learn")
        self.assertIn("learning", loud.stderr)
        quiet = self.done("names", self.net, "--learn", "--quiet")
        self.assertEqual((quiet.stderr, quiet.stdout), ("", loud.stdout))
        self.refused(run("measure", self.folder / "nowhere", "--quiet"), "nowhere")

    def test_a_finished_run_is_given_more_epochs(self):
        place = self.folder / "longer"
        self.done("train", self.data, place, "--epochs", 1, "--batch", 8)
        self.done("measure", place, "--resamples", 20, "--shuffles", 2)
        self.refused(run("train", self.data, place, "--resume", "--epochs", 2, "--seed", 5), "seed")
        self.assertEqual(json.loads((place / "options.json").read_text())["epochs"], 1)
        self.refused(run("train", self.data, place, "--resume", "--epochs", 0))
        longer = self.done("train", self.data, place, "--resume", "--epochs", 3)
        self.assertIn("1 epochs become 3", longer.stderr)
        self.assertIn("3 epochs", longer.stdout)
        self.assertEqual([json.loads(line)["epoch"] for line in (place / "log.jsonl").read_text().splitlines()], [1, 2, 3])
        self.assertEqual(json.loads((place / "manifest.json").read_text())["lengthened"], [{"at_epoch": 1, "epochs": 3}])
        self.assertTrue((place / "findings-epoch-1.json").exists())
        self.assertFalse((place / "findings.json").exists())  # it was of another network
        self.done("measure", place, "--resamples", 20, "--shuffles", 2)
        self.done("train", self.data, place, "--resume")


if __name__ == "__main__":
    unittest.main()
