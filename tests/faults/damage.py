"""Every file that the program reads back, cut short or with one bit turned: what is read of it is the same as ever, or one line says what is
wrong. A crash, an "internal error" or, worst, another number without a word is a finding."""
import pathlib
import shutil
import time

from ground import MEASURE, TRAIN, differences, snapshot

# Of these, what a clock said does not count, and `previous` is only read where `last` is bad.
ASIDE = ("previous.safetensors", "manifest.json")


def damaged(content, random):
    """The bytes after one damage, and the damage in words."""
    kind = random.choice(("digit", "digit", "bit", "bit", "cut", "cut", "empty", "zeros"))
    if kind == "empty" or not content:
        return b"", "empty"
    at = random.randrange(len(content))
    if kind == "cut":
        return content[:at], f"cut off at byte {at}"
    if kind == "zeros":  # a page that never reached the disk
        return content[:at] + bytes(min(4096, len(content) - at)) + content[at + 4096:], f"zeros from byte {at}"
    digits = [place for place, byte in enumerate(content[at:at + 10_000], at) if chr(byte).isdigit()]
    if kind == "digit" and digits:  # the bit that makes another number of it
        at = digits[0]
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1:], f"another digit at byte {at}"
    bit = random.randrange(8)
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1:], f"bit {bit} of byte {at} turned"


class Reader:
    """A command on a copy of finished or half-finished work, and what it leaves and prints when nothing is damaged."""

    def __init__(self, ground, source, command, without=ASIDE, prints=False):
        self.ground, self.source, self.command, self.without, self.prints = ground, source, command, without, prints
        place = self.fresh()
        ended = ground.must(*command(place))
        self.place, self.left, self.out = place, snapshot(place, without), ended.out

    def fresh(self):
        """Always the same place: its path is in what is printed."""
        place = self.ground.folder / "damaged"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.source, place)
        return place

    def try_one(self, row, name):
        place = self.fresh()
        path = place / name
        content = path.read_bytes()
        bytes_now, how = damaged(content, self.ground.random)
        path.write_bytes(bytes_now)
        ended = self.ground.run(*self.command(place))
        row.tried += 1
        problem = ended.misbehaviour()
        if problem:
            row.corrupt(f"{name}, {how}: {problem}")
            return
        if ended.code == 1:
            self.refused += 1
            return
        # The damaged file itself may stay as it is, where nothing of it is used.
        changed = differences({key: value for key, value in self.left.items() if key != name},
                              {key: value for key, value in snapshot(place, self.without).items() if key != name})
        if not changed and not (self.prints and ended.out != self.out):
            row.resumed += 1
        elif pathlib.Path(name).name in ended.said + ended.out.replace(self.out, ""):
            self.named += 1
        else:
            row.corrupt(f"{name}, {how}: silently other: {changed or 'what is printed'}")

    refused = named = 0


def half_trained(ground):
    """A run that was stopped after its first epoch, with both checkpoints."""
    for _ in range(5):  # on a busy machine it may come to its end before the signal
        place = ground.new("half")
        process = ground.start("train", ground.data, place, *TRAIN)
        log = place / "log.jsonl"
        while process.poll() is None and not (log.exists() and log.read_text()):
            time.sleep(0.002)
        process.terminate()
        ended = ground.end(process)
        if ended.code == 130:
            return place
    raise AssertionError(f"it was too quick to be stopped: {ended.words}")


def readers(ground):
    """{what reads: (how to make the reader, the files it reads)}."""
    def reader(source, command, **kwargs):
        return lambda: Reader(ground, source() if callable(source) else source, command, **kwargs)

    def reported():
        place = ground.copy(ground.whole, "reported")
        ground.must("report", place, "--out", ground.folder / "reported.html")
        return place

    def exported():
        place = ground.new("init")
        place.mkdir()
        ground.must("export", ground.whole, "--out", place / "net.safetensors")
        return place

    whole, checkpoint = ground.whole, "checkpoints/last.safetensors"
    return {
        "resume": (reader(lambda: half_trained(ground), lambda place: ["train", ground.data, place, *TRAIN, "--resume"]),
                   ("options.json", "manifest.json", "model.json", "log.jsonl", checkpoint, "checkpoints/previous.safetensors",
                    "checkpoints/best.safetensors", "log.csv", "events.out.tfevents.partwise")),
        # What measuring added to model.json goes with a checkpoint that is made again.
        "resume, finished": (reader(whole, lambda place: ["train", ground.data, place, "--resume", "--threads", 1], without=(*ASIDE, "model.json"), prints=True),
                             ("options.json", "manifest.json", "log.jsonl", checkpoint)),
        "measure": (reader(whole, lambda place: ["measure", place, *MEASURE], prints=True), ("options.json", "manifest.json", "model.json", checkpoint)),
        "explain": (reader(whole, lambda place: ["explain", place, ground.photo, "--out", place / "explained", "--threads", 1], prints=True),
                    ("model.json", "parts.json", "additive.safetensors", "names.json", checkpoint)),
        "compare": (reader(whole, lambda place: ["compare", whole, place, "--json", place / "compared.json"], prints=True),
                    ("findings.json", "draws.safetensors", "manifest.json")),
        "names": (reader(whole, lambda place: ["names", place, "--json"], prints=True), ("names.json", "parts.json")),
        "report": (reader(reported, lambda place: ["report", place, "--out", place / "page.html"]),
                   ("findings.json", "draws.safetensors", "log.jsonl", "options.json", "explanations/explanations.json", "parts.json")),
        "export": (reader(whole, lambda place: ["export", place, "--out", place / "net.onnx"]), ("model.json", checkpoint)),
        "train --init": (reader(exported, lambda place: ["train", ground.data, place / "run", *TRAIN, "--init", place / "net.safetensors"]), ("net.safetensors",)),
        "data check": (reader(ground.data, lambda place: ["data", "check", place], prints=True), ("dataset.json", "images/*")),
        "measure its data": (reader(lambda: with_data(ground), lambda place: ["measure", place / "run", *MEASURE, "--cache-limit", 0],
                                    prints=True), ("animals/dataset.json", "animals/images/*")),
        "crop cache": (reader(lambda: with_cache(ground), lambda place: ["measure", place / "run", *MEASURE, "--cache", place / "cache"], prints=True),
                       ("cache/*",)),
    }


def all_of(ground, flips, only=None):
    for what, (make, patterns) in readers(ground).items():
        if only and what not in only:
            continue
        row = ground.row("damage: " + what)
        reader = make()
        for pattern in patterns:
            files = sorted(str(path.relative_to(reader.source)) for path in reader.source.glob(pattern))
            assert files, f"{what}: no {pattern}"
            for _ in range(flips):
                reader.try_one(row, ground.random.choice(files))
        row.remark = f"{reader.refused} refused, {reader.named} gone on without it, in words, {row.resumed} as ever"
        ground.check_finished(row)
        yield row


def with_data(ground):
    """A run and its dataset, where the run expects it."""
    place = ground.folder / "damaged"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ground.data, place / "animals")
    ground.must("train", place / "animals", place / "run", *TRAIN)
    return shutil.move(place, ground.new("measured"))


def with_cache(ground):
    place = ground.new("cached")
    shutil.copytree(ground.whole, place / "run")
    ground.must("measure", place / "run", *MEASURE, "--cache", place / "cache")
    return place
