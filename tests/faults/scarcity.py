"""A full disk, folders that cannot be written, too little memory: one line says so, what was there stays, and with room again all goes on."""
import resource
import shutil
import subprocess

from ground import MEASURE, TRAIN, Ended, differences, half_written, snapshot
from kills import CLOCKED, DEMO


def commands(ground):
    """{name: (make a place, command on it)} of what writes."""
    return {
        "train": (lambda: ground.new("full"), lambda place: ["train", ground.data, place, *TRAIN, "--resume"]),
        "synth": (lambda: ground.new("full"), lambda place: ["data", "synth", place, "--images", 8, "--categories", 2, "--size", 64]),
        "measure": (lambda: ground.copy(ground.whole, "full"), lambda place: ["measure", place, "--resamples", 30, "--threads", 1]),
        "explain": (lambda: ground.copy(ground.whole, "full"),
                    lambda place: ["explain", place, ground.photo, "--out", place / "explained", "--threads", 1]),
    }


def full_disk(ground, times):
    """From a random write on, every write fails; afterwards there is room again."""
    row = ground.row("disk full from a random write on")
    if not ground.shim:
        row.remark = "skipped: no C compiler"
        return row
    for name, (make, command) in commands(ground).items():
        undisturbed = make()
        writes = ground.counted(*command(undisturbed))[1]
        reference = snapshot(undisturbed, CLOCKED)
        for _ in range(times):
            place = make()
            ended = ground.run(*command(place), fault={"FAULT_FULL": ground.random.randint(1, writes)})
            row.tried += 1
            problem = ended.misbehaviour()
            if problem:
                row.corrupt(f"{name}: {problem}")
            again = ground.run(*command(place))
            changed = "" if again.code == 0 and not differences(reference, snapshot(place, CLOCKED)) else (
                again.words if again.code else differences(reference, snapshot(place, CLOCKED)))
            left = half_written(place)
            if changed or left:
                row.corrupt(f"{name}: afterwards: {changed or left}")
            else:
                row.resumed += 1
    ground.check_finished(row)
    return row


def in_own_mounts(script):
    """The script where it may mount; None where this machine does not let us."""
    for how in (["unshare", "-m"], ["unshare", "-r", "-m"]):
        try:
            if subprocess.run([*how, "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True).returncode == 0:
                return subprocess.run([*how, "sh", "-c", script], capture_output=True, text=True, errors="replace")
        except OSError:
            return None
    return None


def quoted(arguments):
    return " ".join("'" + str(argument) + "'" for argument in arguments)


class Said:
    """What a step of a script left in files."""

    def __init__(self, ground, folder, name):
        self.ended = Ended(int((folder / f"{name}.code").read_text()), (folder / f"{name}.out").read_text(),
                           (folder / f"{name}.err").read_text())


def step(ground, folder, name, arguments):
    environment = " ".join(f"{key}='{ground.environment[key]}'" for key in ("NO_COLOR", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "XDG_CACHE_HOME"))
    return (f"{environment} timeout 120 {quoted([ground.partwise, *arguments])} > {folder}/{name}.out 2> {folder}/{name}.err; "
            f"echo $? > {folder}/{name}.code\n")


def small_tmpfs(ground, times):
    """A real file system of a few megabytes, which then grows."""
    row = ground.row("tmpfs of a few MB")
    reference = None
    for _ in range(times):
        folder = ground.new("tmpfs")
        place = folder / "mounted" / "run"
        place.parent.mkdir(parents=True)
        kilobytes = ground.random.randint(40, 17000)
        command = ["train", ground.data, place, *TRAIN, "--resume"]
        script = (f"mount -t tmpfs -o size={kilobytes}k none {place.parent}\n" + step(ground, folder, "full", command) +
                  f"mount -o remount,size=200m {place.parent}\n" + step(ground, folder, "room", command) +
                  f"cp -r {place} {folder}/copy\n")
        if in_own_mounts(script) is None or not (folder / "full.code").exists():
            row.remark = "skipped: no mounting here"
            return row
        row.tried += 1
        full, room = (Said(ground, folder, name).ended for name in ("full", "room"))
        problem = full.misbehaviour() or room.misbehaviour((0,))
        if reference is None:
            undisturbed = ground.new("undisturbed")
            ground.must("train", ground.data, undisturbed, *TRAIN)
            reference = snapshot(undisturbed, CLOCKED)
        problem = problem or differences(reference, snapshot(folder / "copy", CLOCKED)) or ", ".join(half_written(folder / "copy"))
        if problem:
            row.corrupt(f"{kilobytes} kB: {problem}")
        else:
            row.resumed += 1
    ground.check_finished(row)
    return row


def read_only(ground):
    """Every command that writes, into a folder that is mounted read-only."""
    row = ground.row("read-only folders")
    folder = ground.new("read-only")
    place = folder / "mounted"
    shutil.copytree(ground.whole, place / "run")
    (place / "empty").mkdir()
    before = snapshot(place)
    tries = {
        "train": ["train", ground.data, place / "new", *TRAIN],
        "resume": ["train", ground.data, place / "run", "--resume"],
        "synth": ["data", "synth", place / "empty", "--images", 8, "--categories", 2, "--size", 64],
        "measure": ["measure", place / "run", *MEASURE],
        "explain": ["explain", place / "run", ground.photo, "--out", place / "explained"],
        "names": ["names", place / "run", "--set", "new:1=mouth"],
        "report": ["report", place / "run", "--out", place / "report.html"],
        "export": ["export", place / "run", "--out", place / "net.onnx"],
        "demo": ["demo", "--out", place / "demo", *DEMO],
    }
    may = {"resume": "a finished run is only read",
           "cache": "crops are prepared without one"}
    tries["cache"] = ["measure", folder / "own", *MEASURE, "--cache", place / "cache"]
    shutil.copytree(ground.whole, folder / "own")
    script = f"mount --bind {place} {place} && mount -o remount,ro,bind {place}\n"
    script += "".join(step(ground, folder, name, arguments) for name, arguments in tries.items())
    if in_own_mounts(script) is None or not (folder / "train.code").exists():
        row.remark = "skipped: no mounting here"
        return row
    for name in tries:
        ended = Said(ground, folder, name).ended
        row.tried += 1
        problem = ended.misbehaviour((0, 1) if name in may else (1,))
        if problem:
            row.corrupt(f"{name}: {problem}")
        elif name not in may and "ead-only" not in ended.said:
            row.corrupt(f"{name}: does not say that it is read-only: {ended.words}")
        else:
            row.resumed += 1
    changed = differences(before, snapshot(place))
    if changed:
        row.corrupt(changed)
    ground.check_finished(row)
    return row


def within(ground, megabytes, *arguments):
    """Under a limit on the address space; a library that asks for ever is ended by a limit on the processor's time."""
    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return ground.run(*arguments, preexec_fn=limits, limit=300)


def least(ground, step, *arguments):
    """Megabytes of address space with which it does its work, to a step."""
    low, high = 64, 4096
    while high - low > step:
        middle = (low + high) // 2
        low, high = (low, middle) if within(ground, middle, *arguments).code == 0 else (middle, high)
    return high


def little_memory(ground, times):
    """Between what the program needs to start and what its work needs. Whatever happens to it there, nothing is lost."""
    row = ground.row("out of memory (ulimit -v)")
    start = least(ground, 8, "--help")  # the program itself: the starter answers --version
    refused = died = 0
    for name, (make, command) in commands(ground).items():
        undisturbed = make()
        ground.must(*command(undisturbed))
        reference = snapshot(undisturbed, CLOCKED)
        for _ in range(times):
            megabytes = start + ground.random.randint(0, 500)
            place = make()
            ended = within(ground, megabytes, *command(place))
            row.tried += 1
            if ended.code == 1 and "memory" in ended.said and not ended.misbehaviour():
                refused += 1
            elif ended.code != 0:
                died += 1
                row.notes.append(f"{name} with {megabytes} MB: {ended.words}")
            again = ground.run(*command(place))
            changed = again.words if again.code else differences(reference, snapshot(place, CLOCKED))
            if changed:
                row.corrupt(f"{name} with {megabytes} MB, afterwards: {changed}")
            else:
                row.resumed += 1
    row.remark = f"{refused} refused in one line, {died} ended otherwise (in a library); starts with {start} MB"
    ground.check_finished(row)
    return row


def all_of(ground, times, short):
    yield full_disk(ground, times)
    yield small_tmpfs(ground, times)
    if not short:
        yield read_only(ground)
        yield little_memory(ground, times)
