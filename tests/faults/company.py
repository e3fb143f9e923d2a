"""Others: two processes on one run, one dataset, one cache; a rank that dies, stops or comes late."""
import os
import shutil
import signal
import socket
import time

from ground import MEASURE, TRAIN, differences, half_written, snapshot
from kills import CLOCKED, children


def together(ground, row, name, commands, reference, place, may_refuse, without=CLOCKED):
    """Started within a quarter of a second: each does or refuses in one line, and what is there is as one alone leaves it."""
    processes = []
    for command in commands:
        processes.append(ground.start(*command))
        time.sleep(ground.random.uniform(0, 0.25))
    ended = [ground.end(process) for process in processes]
    row.tried += 1
    problem = next(filter(None, (one.misbehaviour((0, 1) if may_refuse else (0,)) for one in ended)), "")
    if not problem and all(one.code != 0 for one in ended):
        problem = "nobody did: " + ended[0].words
    problem = problem or differences(reference, snapshot(place, without)) or ", ".join(half_written(place))
    if problem:
        row.corrupt(f"{name}: {problem}")
    else:
        row.resumed += 1


def two_at_once(ground, times):
    row = ground.row("two processes at once")
    trained = ground.new("alone")
    train = lambda place: ["train", ground.data, place, *TRAIN, "--resume"]
    synth = lambda place: ["data", "synth", place, "--images", 8, "--categories", 2, "--size", 64]
    ground.must(*train(trained))
    source = ground.new("classes")
    for number, image in enumerate(sorted((ground.data / "images").iterdir())):
        into = source / ("fox" if number % 2 else "deer")
        into.mkdir(parents=True, exist_ok=True)
        shutil.copy(image, into)
    imports = lambda place: ["data", "import", "folder", source, place]
    imported = ground.new("imported")
    ground.must(*imports(imported))
    measured = snapshot(ground.whole, CLOCKED)
    for _ in range(times):
        place = ground.new("two")
        together(ground, row, "train", [train(place)] * 2, snapshot(trained, CLOCKED), place, True)
        place = ground.new("two")
        together(ground, row, "synth", [synth(place)] * 2, snapshot(ground.data), place, True)
        place = ground.new("two")
        together(ground, row, "import", [imports(place)] * 2, snapshot(imported), place, True)
        place = ground.copy(ground.whole, "two")
        together(ground, row, "measure", [["measure", place, *MEASURE]] * 2, measured, place, True)
        place, cache = ground.copy(ground.whole, "two"), ground.new("cache")
        other = ground.copy(ground.whole, "two")
        together(ground, row, "one cache", [["measure", run, *MEASURE, "--cache", cache] for run in (place, other)], measured, place, False)
        place = ground.copy(ground.whole, "two")
        (place / "parts.json").unlink()
        explain = ["explain", place, ground.photo, "--threads", 1, "--out"]
        together(ground, row, "explain", [[*explain, ground.new("why")], [*explain, ground.new("why")]], measured, place, False)
    ground.check_finished(row)
    return row


def rank_environment(ground, rank, port):
    return {**ground.environment, "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def disturbed_ranks(ground, times):
    """One that dies ends all, one that stands still is waited for, one that comes late is waited for."""
    row = ground.row("a dead, a stopped, a late rank")
    command = lambda place: ["train", ground.data, place, *TRAIN, "--resume"]
    alone = ground.new("ranks")
    first = ground.run(*command(alone), "--ranks", 2)
    if first.code != 0 and "Gloo" in first.said:
        row.remark = "skipped: no Gloo"
        return row
    reference = snapshot(alone, CLOCKED)

    def judge(name, place, ended, allowed):
        row.tried += 1
        problem = next(filter(None, (one.misbehaviour(allowed) for one in ended)), "")
        if not problem and ended[0].code == 1:
            again = ground.run(*command(place), "--ranks", 2)
            problem = again.misbehaviour((0,))
        problem = problem or differences(reference, snapshot(place, CLOCKED)) or ", ".join(half_written(place))
        if problem:
            row.corrupt(f"{name}: {problem}")
        else:
            row.resumed += 1

    def begun(place, process):
        while process.poll() is None and not (place / "checkpoints" / "last.safetensors").exists():
            time.sleep(0.01)
        time.sleep(ground.random.uniform(0, 0.2))

    for _ in range(times):
        for how in (signal.SIGKILL, signal.SIGSTOP):
            place = ground.new("ranks")
            process = ground.start(*command(place), "--ranks", 2)
            begun(place, process)
            victims = children(process.pid) if process.poll() is None else []
            if victims:
                victim = ground.random.choice(victims)
                os.kill(victim, how)
                if how == signal.SIGSTOP:
                    time.sleep(ground.random.uniform(0.5, 2))
                    os.kill(victim, signal.SIGCONT)
            judge("dead" if how == signal.SIGKILL else "stopped", place, [ground.end(process)], (0, 1))
        place, port = ground.new("ranks"), free_port()
        ranks = [ground.start(*command(place), environment=rank_environment(ground, 0, port))]
        time.sleep(ground.random.uniform(1, 4))
        ranks.append(ground.start(*command(place), environment=rank_environment(ground, 1, port)))
        judge("late", place, [ground.end(process) for process in ranks], (0,))
    # One that never comes on again: whoever gives up can, and loses nothing.
    place = ground.new("ranks")
    process = ground.start(*command(place), "--ranks", 2)
    begun(place, process)
    victims = children(process.pid) if process.poll() is None else []
    if victims:
        os.kill(victims[-1], signal.SIGSTOP)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        ended = ground.end(process, limit=30)
        row.tried += 1
        for victim in victims:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if ended.code is None:
            row.corrupt("a rank stands still for good: two SIGTERM do not end the launcher within 30 s")
        again = ground.run(*command(place), "--ranks", 2)
        problem = again.misbehaviour((0,)) or differences(reference, snapshot(place, CLOCKED))
        if problem:
            row.corrupt(f"stands still for good, afterwards: {problem}")
        elif ended.code is not None:
            row.resumed += 1
    ground.check_finished(row)
    return row


def all_of(ground, short):
    yield two_at_once(ground, 1 if short else 4)
    if not short:
        yield disturbed_ranks(ground, 2)
