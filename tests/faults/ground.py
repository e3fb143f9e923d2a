"""What every fault shares: a folder with finished work in it, the program run under a fault, what is compared, the table."""
import hashlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
BUG = re.compile(r"internal error|terminate called|what\(\):|Segmentation|Aborted|core dumped|Sanitizer|Traceback|runtime error")
# Lines that tell of something mended or skipped, before the one that says why it ended.
REMARK = re.compile(r"^(note|measuring|verifying|preparing|training|another process is preparing|the training loss|the program was built|working on|rank \d+ of \d+: waiting)|going on|no photographs are explained|explaining three photographs|not paired|^not explained: |preparing it again|learnt anew")
TRAIN = ["--epochs", 2, "--batch", 4, "--validation-images", 4, "--checkpoint-minutes", 0, "--threads", 1]
MEASURE = ["--resamples", 20, "--threads", 1]


class Ended:
    def __init__(self, code, out, said):
        self.code, self.out, self.said = code, out, said

    @property
    def killed(self):
        return self.code == -signal.SIGKILL

    @property
    def words(self):
        return f"exit {self.code}: {self.said.strip()[-300:]!r}"

    def misbehaviour(self, allowed=(0, 1)):
        """Why this is no good end; "" where it is one: done, or one line that says why not."""
        if BUG.search(self.said) or BUG.search(self.out):
            return "a bug of ours: " + self.words
        if self.code not in allowed:
            return "a bad end: " + self.words
        lines = [line for line in self.said.splitlines() if line.strip() and not REMARK.search(line)]
        if self.code == 1 and len(lines) != 1:
            return f"{len(lines)} lines in place of one: " + self.words
        return ""


class Row:
    """One kind of fault: how often it was tried and what came of it."""

    def __init__(self, what):
        self.what, self.tried, self.lost, self.corrupted, self.resumed = what, 0, 0, 0, 0
        self.problems, self.notes, self.remark = [], [], ""

    def corrupt(self, why):
        self.corrupted += 1
        self.problems.append("corrupted: " + why)

    def lose(self, why):
        self.lost += 1
        self.problems.append("lost: " + why)


class Ground:
    def __init__(self, partwise, folder, seed):
        self.partwise, self.folder, self.random = str(pathlib.Path(partwise).resolve()), folder, random.Random(seed)
        self.rows, self.serial = [], 0
        self.environment = {**os.environ, "NO_COLOR": "1", "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive",
                            "XDG_CACHE_HOME": str(folder / "cache"), "CUDA_VISIBLE_DEVICES": ""}
        self.shim = self.built_shim()
        self.data, self.whole = folder / "animals", folder / "whole"
        self.must("data", "synth", self.data, "--images", 8, "--categories", 2, "--size", 64)
        self.must("train", self.data, self.whole, *TRAIN)
        self.must("measure", self.whole, *MEASURE)
        self.photo = next(iter(sorted((self.data / "images").iterdir())))
        self.must("explain", self.whole, self.photo, "--out", folder / "explained", "--threads", 1)
        self.must("names", self.whole, "--set", "new:1=nose")
        self.finished = {place: snapshot(place) for place in (self.data, self.whole)}

    def built_shim(self):
        """fault.c as a library; None where there is no C compiler."""
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-14")
        if not compiler:
            return None
        out = self.folder / "fault.so"
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", out, HERE / "fault.c", "-ldl"], check=True)
        return out

    def row(self, what):
        self.rows.append(Row(what))
        return self.rows[-1]

    def new(self, name):
        self.serial += 1
        return self.folder / f"{name}-{self.serial}"

    def copy(self, of, name):
        place = self.new(name)
        shutil.copytree(of, place, symlinks=True)
        return place

    def start(self, *arguments, fault=None, **kwargs):
        environment = dict(kwargs.pop("environment", None) or self.environment)
        if fault:
            environment.update({key: str(value) for key, value in fault.items()}, LD_PRELOAD=str(self.shim))
        return subprocess.Popen([self.partwise, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                errors="replace", env=environment, start_new_session=True, **kwargs)

    @staticmethod
    def end(process, limit=120):
        try:
            out, said = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, said = process.communicate()
            return Ended(None, out, f"still there after {limit} s; {said}")
        return Ended(process.returncode, out, said)

    def run(self, *arguments, **kwargs):
        limit = kwargs.pop("limit", 120)
        return self.end(self.start(*arguments, **kwargs), limit)

    def must(self, *arguments, **kwargs):
        ended = self.run(*arguments, **kwargs)
        assert ended.code == 0, f"{' '.join(map(str, arguments))}: {ended.words}"
        return ended

    def counted(self, *arguments):
        """(changes, writes) of fault.c when nothing goes wrong."""
        into = self.new("count")
        self.must(*arguments, fault={"FAULT_COUNT": into})
        return tuple(map(int, into.read_text().split()))

    def timed(self, *arguments):
        start = time.monotonic()
        self.must(*arguments)
        return time.monotonic() - start

    def kill_somewhere(self, *arguments, seconds, changes=0, pick=None):
        """Runs it and kills it: just before a random change of a folder, or at a random moment. It may be quicker."""
        if self.shim and changes and self.random.random() < 0.5:
            return self.run(*arguments, fault={"FAULT_KILL": self.random.randint(1, changes)})
        process = self.start(*arguments)
        try:
            process.wait(self.random.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            os.kill(pick(process) if pick else process.pid, signal.SIGKILL)
        return self.end(process)

    def check_finished(self, row):
        """What was finished before is as it was, whatever happened beside it."""
        for place, before in self.finished.items():
            changed = differences(before, snapshot(place))
            if changed:
                row.corrupt(f"finished work changed: {place.name}: {changed}")
                self.finished[place] = snapshot(place)


def normalised(path, folder):
    """Its bytes without what a clock put there, and without the folder's own name."""
    content = path.read_bytes().replace(str(folder).encode(), b"FOLDER")
    if path.suffix in (".json", ".jsonl"):
        content = re.sub(rb'"(seconds|created|checksum)": ?[^,}\n]*', b"", content)
    return content


def snapshot(folder, without=()):
    """{file: hash} below it; logs made of log.jsonl, locks and pages with a duration on them aside."""
    aside = ("log.csv", "events.out.tfevents.partwise", "names.lock", "measure.lock", "report.html", *without)
    return {str(path.relative_to(folder)): hashlib.sha256(normalised(path, folder)).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in aside}


def differences(one, other):
    """In words; "" where there are none."""
    changed = [name for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]
    return ", ".join(f"{name} {'differs' if name in one and name in other else 'is missing' if name in one else 'is new'}"
                     for name in changed[:5])


def half_written(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob("*")
            if ".tmp" in path.name or path.name in ("next.safetensors", "unfinished.json")]
