"""SIGKILL at random moments and at random changes of a folder, several times in a row; then the command is run to its end, and what it
leaves must be what it leaves undisturbed."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import struct
import time

from ground import MEASURE, TRAIN, differences, half_written, snapshot

# Of a hundred kills.
SHARES = {"train": 26, "train, two ranks": 12, "synth": 10, "import": 14, "measure": 12, "explain": 8, "serve": 6, "demo": 8, "reproduce": 4}
DEMO = ["--images", 8, "--categories", 2, "--size", 64, "--epochs", 1, "--pretraining-images", 8, "--pretraining-epochs", 1, "--threads", 1]


def position(run):
    """Epoch and step of the newest checkpoint."""
    newest = (0, 0)
    for name in ("next", "last", "previous"):
        path = run / "checkpoints" / f"{name}.safetensors"
        if path.exists():
            content = path.read_bytes()
            (length,) = struct.unpack_from("<Q", content)
            seen = json.loads(json.loads(content[8:8 + length])["__metadata__"]["position"])
            newest = max(newest, (seen["epoch"], seen["step"]))
    return newest


# The checkpoint before the last says how many seconds its epoch has taken.
CLOCKED = ("previous.safetensors",)


def chain(ground, row, kills, command, reference, *, make, progress=lambda place: 0, pick=None, between=None, without=CLOCKED):
    """Kills `command(place)` up to three times in a row, lets it finish, compares `place` with the reference; until `kills` are spent."""
    first = make()
    seconds = ground.timed(*command(first))
    changes = ground.counted(*command(make()))[0] if ground.shim else 0
    while row.tried < kills:
        place = make()
        for _ in range(ground.random.randint(1, 3)):
            before = progress(place)
            ended = ground.kill_somewhere(*command(place), seconds=1.05 * seconds, changes=changes, pick=pick)
            row.tried += 1
            problem = "" if ended.killed else ended.misbehaviour(allowed=(0, 1) if pick else (0,))
            if problem:
                row.corrupt(problem)
            if progress(place) < before:
                row.lose(f"from {before} back to {progress(place)}")
            if between:
                between(place)
        ended = ground.run(*command(place))
        if ended.code != 0:
            row.lose(f"cannot go on: {ended.words}")
            continue
        changed = differences(reference, snapshot(place, without))
        left = half_written(place)
        if changed:
            row.corrupt(f"{place.name}: {changed}")
        elif left:
            row.corrupt(f"{place.name}: half-written: {left[:3]}")
        else:
            row.resumed += 1
        shutil.rmtree(place, ignore_errors=True)
    ground.check_finished(row)


def of_train(ground, row, kills):
    run = ground.new("train")
    command = lambda place: ["train", ground.data, place, *TRAIN, "--resume"]
    ground.must(*command(run))
    chain(ground, row, kills, command, snapshot(run, CLOCKED), make=lambda: ground.new("killed"), progress=position)


def children(process):
    return [int(entry) for entry in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def of_ranks(ground, row, kills):
    """The launcher or one of the ranks."""
    run = ground.new("ranks")
    command = lambda place: ["train", ground.data, place, *TRAIN, "--ranks", 2, "--resume"]
    first = ground.run(*command(run))
    if first.code != 0 and "Gloo" in first.said:
        row.remark = "skipped: no Gloo"
        return

    def victim(process):
        return ground.random.choice([process.pid, *children(process.pid)])

    def wait_for_the_others(_):
        """Ranks whose launcher was killed end by themselves."""
        end = time.monotonic() + 20
        while time.monotonic() < end and strays(ground):
            time.sleep(0.05)
        for stray in strays(ground):
            row.corrupt(f"a rank outlives its launcher by 20 s (process {stray})")
            os.kill(stray, signal.SIGKILL)

    chain(ground, row, kills, command, snapshot(run, CLOCKED), make=lambda: ground.new("ranks"), progress=position, pick=victim,
          between=wait_for_the_others)


def strays(ground):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if words and words[0].decode() == ground.partwise and str(ground.folder).encode() in b" ".join(words):
                if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                    found.append(int(entry.name))
        except (OSError, UnicodeDecodeError):
            continue
    return found


def images_in(place):
    return len(list(place.rglob("*.png")))


def of_synth(ground, row, kills):
    command = lambda place: ["data", "synth", place, "--images", 8, "--categories", 2, "--size", 64]
    chain(ground, row, kills, command, snapshot(ground.data), make=lambda: ground.new("synth"), progress=images_in)


def of_import(ground, row, kills):
    """One folder per class, of the animals' own images."""
    source = ground.new("classes")
    for number, image in enumerate(sorted((ground.data / "images").iterdir())):
        into = source / ("fox" if number % 2 else "deer")
        into.mkdir(parents=True, exist_ok=True)
        shutil.copy(image, into)
    command = lambda place: ["data", "import", "folder", source, place, "--threads", 1]
    made = ground.new("imported")
    ground.must(*command(made))
    chain(ground, row, kills, command, snapshot(made), make=lambda: ground.new("import"), progress=images_in)


def content_hash(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def of_measure(ground, row, kills):
    """Over findings that are there already: killed, there are the old ones or the new ones, with their draws."""
    command = lambda place: ["measure", place, "--resamples", 30, "--threads", 1]
    renewed = ground.copy(ground.whole, "renewed")
    ground.must(*command(renewed))
    old, new = ((at / "findings.json").read_bytes() for at in (ground.whole, renewed))

    def whole_findings(place):
        content = (place / "findings.json").read_bytes()
        if content not in (old, new):
            row.corrupt(f"{place.name}: findings.json is neither the old one nor the new one")
            return
        wanted = json.loads(content)["draws"]["hash"]
        if wanted not in [content_hash(path.read_bytes()) for path in place.glob("draws*.safetensors")]:
            row.lose(f"{place.name}: the draws of its findings are gone")
        read = ground.run("compare", ground.whole, place)
        if read.code != 0:
            row.corrupt(f"{place.name}: {read.words}")

    chain(ground, row, kills, command, snapshot(renewed, CLOCKED), make=lambda: ground.copy(ground.whole, "measure"), between=whole_findings)


def of_explain(ground, row, kills):
    """The parts are learnt first, then the photograph is explained: both are in the place."""
    bare = ground.copy(ground.whole, "bare")
    for name in ("parts.json", "additive.safetensors", "findings.json", "draws.safetensors"):
        (bare / name).unlink(missing_ok=True)
    shutil.rmtree(bare / "pictures", ignore_errors=True)
    why = ground.new("why")  # where drafts may stay: it is not ours to tidy up
    command = lambda place: ["explain", place, ground.photo, "--out", why / place.name, "--threads", 1]
    explained = ground.copy(bare, "explained")
    ground.must(*command(explained))
    chain(ground, row, kills, command, snapshot(explained, CLOCKED), make=lambda: ground.copy(bare, "explain"))
    pictures = {path.read_bytes() for path in why.rglob("*.png")}
    if len(pictures) != 1:
        row.corrupt(f"{len(pictures)} different pictures of one photograph")


def of_serve(ground, row, kills):
    """A name that was answered for is kept."""
    place = ground.copy(ground.whole, "serve")
    kept = {1: "nose"}
    while row.tried < kills:
        process = ground.start("serve", place, "--port", 0, "--threads", 1)
        address = process.stdout.readline().strip()
        if not address:
            row.corrupt(f"serve does not start: {ground.end(process).words}")
            return
        port = int(address.split(":")[2].split("/")[0])
        end = time.monotonic() + ground.random.uniform(0.2, 3.0)
        number = 1
        while time.monotonic() < end:
            number = number % 60 + 1
            name = f"part {row.tried} {number}"
            try:
                connection = http.client.HTTPConnection("localhost", port, timeout=10)
                path = f"/api/runs/{place.name}/layers/new/filters/{number}"
                connection.request("GET", path)
                answer = connection.getresponse()
                revision = json.loads(answer.read()).get("revision", 0)
                connection.close()
                if answer.status != 200:
                    time.sleep(0.05)
                    continue
                connection = http.client.HTTPConnection("localhost", port, timeout=10)
                connection.request("PUT", path + "/name", json.dumps({"name": name, "revision": revision}), {"X-Partwise": "1"})
                if connection.getresponse().status == 200:
                    kept[number] = name
                connection.close()
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.05)
        process.kill()
        ground.end(process)
        row.tried += 1
        listed = ground.run("names", place, "--json")
        if listed.code != 0:
            row.corrupt(listed.words)
            return
        names = {one["filter"]: one["name"] for one in json.loads(listed.out) if one["layer"] == "new"}
        gone = {number: name for number, name in kept.items() if names.get(number) != name}
        if gone:
            row.lose(f"names that were answered for: {gone}")
            kept.update({number: names.get(number) for number in gone})
        else:
            row.resumed += 1
    row.remark = f"{len(kept)} filters named"
    ground.check_finished(row)


def of_demo(ground, row, kills):
    command = lambda place: ["demo", "--out", place, *DEMO]
    made = ground.new("demo")
    ground.must(*command(made))
    progress = lambda place: len(list(place.glob("runs/*/findings.json")))
    # A manifest holds the folder's own path.
    without = ("manifest.json", *CLOCKED)
    chain(ground, row, kills, command, snapshot(made, without), make=lambda: ground.new("demo"), progress=progress, without=without)


def of_reproduce(ground, row, kills):
    """One cell of a grid: trained, measured, put into the table."""
    command = lambda place: ["reproduce", "animal-part-purity", "--data", ground.data, "--out", place, "--net", "tiny", "--category", "fox",
                             "--arm", "interpretable", "--epochs", 1, *MEASURE]
    made = ground.new("grid")
    ground.must(*command(made))
    progress = lambda place: len(list(place.rglob("findings.json")))
    chain(ground, row, kills, command, snapshot(made, CLOCKED), make=lambda: ground.new("grid"), progress=progress)


OF = {"train": of_train, "train, two ranks": of_ranks, "synth": of_synth, "import": of_import, "measure": of_measure,
      "explain": of_explain, "serve": of_serve, "demo": of_demo, "reproduce": of_reproduce}


def all_of(ground, kills, only=None):
    for what, share in SHARES.items():
        if only and what not in only:
            continue
        row = ground.row("SIGKILL: " + what)
        OF[what](ground, row, max(1, round(share * kills / 100)))
        yield row
