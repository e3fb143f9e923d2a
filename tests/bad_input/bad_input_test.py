#!/usr/bin/env python3
"""usage: bad_input_test.py PARTWISE [WORD]: every row of cases.py (or those whose name holds WORD) through the program.

A row is refused in exactly one line that starts with "partwise: " and holds the words of the row, with its exit code, within seconds;
the folder it ran in, and what the rows share, are afterwards as they were, to the byte."""
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cases  # noqa: E402

PARTWISE = os.path.abspath(sys.argv.pop(1))
CHOSEN = sys.argv.pop(1) if len(sys.argv) > 1 else ""
SECONDS = 60 if os.environ.get("PARTWISE_SANITIZED") else 20  # a busy machine; idle, a row takes 0.2 to 1 s
NEVER = ("internal error", "terminate", "what()", "Success", "ioctl", "backtrace", "frame #", "basic_string", "json.exception",
         "vector::", "std::", "filesystem error", "Aborted", "Segmentation")
WORKERS = 2


def environment(folder):
    return {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder / "tmp"), "CUDA_VISIBLE_DEVICES": "",
            "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}


def entry(path):
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "link to " + os.readlink(path)
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    if not stat.S_ISREG(status.st_mode):
        return f"special {stat.S_IFMT(status.st_mode):o}"
    mode = status.st_mode
    if not mode & stat.S_IRUSR:
        path.chmod(0o600)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.chmod(stat.S_IMODE(mode))
    return digest


def contents(folder):
    """What lies in a folder: each name below it with its kind and, of a file, the digest of its bytes."""
    found = {}
    for root, folders, files in os.walk(os.fsencode(folder)):
        for name in folders + files:
            path = pathlib.Path(os.fsdecode(os.path.join(root, name)))
            found[os.path.relpath(path, folder)] = entry(path)
    return found


def differences(before, after):
    return [f"{name}: {'made' if name not in before else 'gone' if name not in after else 'changed'}"
            for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]


def under(conditions, command):
    """The command under a limit on the size of files, or without root's right to read everything."""
    if "file_size" in conditions:
        command = ["prlimit", f"--fsize={conditions['file_size']}", *command]
    if "memory" in conditions:
        command = ["prlimit", f"--as={conditions['memory']}", *command]
    if conditions.get("plain_user") and os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", *command]
    return command


def problems_of(case, shared, folder):
    place = folder / "cases" / f"{case.number:03}"
    place.mkdir(parents=True)
    case.prepare(place, shared)
    before = contents(place)
    arguments = [argument.format(**shared.names) if isinstance(argument, str) else argument for argument in case.arguments]
    began = time.monotonic()
    output = open(case.conditions.get("stdout", os.devnull), "wb")
    try:
        result = subprocess.run(under(case.conditions, [PARTWISE, *arguments]), cwd=place, env=environment(folder), stdin=subprocess.DEVNULL,
                                stdout=output, stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return [f"no answer within {SECONDS} s"]
    finally:
        output.close()
    seconds = time.monotonic() - began
    text = result.stderr.decode("utf-8", "replace")
    starts = tuple(start.format(**shared.names) for start in case.before)
    lines = [line for line in text.splitlines() if not starts or not line.startswith(starts)]
    found = []
    if result.returncode != case.code:
        found.append(f"exit code {result.returncode}, not {case.code}")
    if len(lines) != 1 or not lines[0].startswith("partwise: "):
        found.append(f"{len(lines)} lines, expected one")
    found += [f"does not say '{word}'" for word in case.says if word not in text]
    found += [f"says '{word}'" for word in NEVER if word in text]
    if not text.replace("\n", "").isprintable():
        found.append("what a terminal takes for a command")
    if lines and len(lines[0]) > cases.LONGEST_LINE:
        found.append(f"a line of {len(lines[0])} characters")
    left = differences(before, contents(place))
    found += [problem for problem in left if not problem.startswith(case.leaves)] if case.leaves else left
    if found or os.environ.get("PARTWISE_SHOW"):
        found.append(f"({seconds:.1f} s) {' '.join(map(str, arguments))}\n      {text.strip()[:600]}")
    if os.environ.get("PARTWISE_SHOW"):
        print(f"{case.name}\n    " + "\n    ".join(found))
        found = found[:-1]
    shutil.rmtree(place, ignore_errors=True)
    return found


class Shared:
    """What rows copy from: made once by the program itself."""

    def __init__(self, folder):
        self.folder = folder
        self.names = {"animals": f"{folder}/animals", "run": f"{folder}/run", "dump": f"{folder}/dump.safetensors",
                      "weights": f"{folder}/net.safetensors", "page": f"{folder}/page.html", "photo": f"{folder}/photo.png"}
        for command in cases.SHARED:
            made = subprocess.run([PARTWISE, *(word.format(**self.names) for word in command)], capture_output=True, text=True,
                                  env=environment(folder.parent))
            assert made.returncode == 0, made.stderr
        shutil.copy(sorted((folder / "animals" / "images").glob("fox*.png"))[0], folder / "photo.png")


class BadInput(unittest.TestCase):
    def test_every_row_is_refused_in_one_line_and_leaves_nothing(self):
        rows = [case for case in cases.CASES if CHOSEN in case.name]
        self.assertEqual(len({case.name for case in rows}), len(rows), "two rows of one name")
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            for name in ("shared", "tmp", "cases"):
                (folder / name).mkdir()
            shared = Shared(folder / "shared")
            before = contents(shared.folder)
            with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
                for case, found in zip(rows, pool.map(lambda case: problems_of(case, shared, folder), rows)):
                    with self.subTest(case.name):
                        self.assertFalse(found, f"{case.name}: " + "\n    ".join(found))
            self.assertEqual(differences(before, contents(shared.folder)), [], "what the rows share has changed")
            self.assertEqual([name for name in contents(folder / "tmp")], [], "left in the folder for temporary files")
            self.assertEqual([name for name in contents(folder / "cache") if ".tmp" in name], [], "left in the cache")
        print(f"{len(rows)} rows")


@unittest.skipIf(CHOSEN, "one row was asked for")
class Outputs(unittest.TestCase):
    """What is not refused: links are followed, pipes and devices are written into, and all of them stay what they are."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        for name in ("shared", "tmp"):
            (cls.folder / name).mkdir()
        cls.shared = Shared(cls.folder / "shared")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def commands(self, out):
        """One command for each way in which the program writes a file."""
        run, weights = self.shared.names["run"], self.shared.names["weights"]
        yield from (["report", run, "--out", out], ["export", run, "--out", out], ["compare", run, run, "--json", out])
        if str(out).endswith(".safetensors"):
            yield ["weights", "convert", weights, out]

    def done(self, command):
        result = subprocess.run([PARTWISE, *map(str, command)], capture_output=True, text=True, env=environment(self.folder), cwd=self.folder)
        self.assertEqual(result.returncode, 0, f"{command}: {result.stderr}")

    def test_a_link_is_followed(self):
        target, link = self.folder / "target.safetensors", self.folder / "link.safetensors"
        link.symlink_to(target.name)
        for command in self.commands(link):
            target.write_bytes(b"before")
            self.done(command)
            self.assertTrue(link.is_symlink(), command)
            self.assertNotEqual(target.read_bytes(), b"before")

    def test_a_pipe_is_written_into(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for command in self.commands(pipe):
            with concurrent.futures.ThreadPoolExecutor(1) as reader:
                received = reader.submit(pipe.read_bytes)
                self.done(command)
                self.assertGreater(len(received.result()), 100, command)
            self.assertTrue(pipe.is_fifo(), command)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_a_device_is_written_into(self):
        device = self.folder / "null"  # never the machine's own: a program that gets this wrong destroys it
        try:
            os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            device.write_bytes(b"x")
        except OSError:
            self.skipTest("devices cannot be made here")
        for command in self.commands(device):
            self.done(command)
            self.assertTrue(device.is_char_device(), command)

    def test_output_that_is_lost_is_an_error(self):
        for redirection in (">/dev/full", ">&-"):
            for command in (["data", "check", self.shared.names["animals"]], ["weights", "inspect", self.shared.names["weights"]], ["--help"]):
                result = subprocess.run(["sh", "-c", f'"$@" {redirection}', "sh", PARTWISE, *command], capture_output=True, text=True,
                                        env=environment(self.folder))
                self.assertEqual(result.returncode, 1, (redirection, command, result.stderr))
                self.assertIn("output", result.stderr)


if __name__ == "__main__":
    unittest.main()
