"""Ten thousand steps of the smallest network: a process that keeps a little of each step grows."""
import pathlib
import time

BATCH, ROWS = 1, 17  # ROWS: training rows of ground.data, and so the steps of an epoch, at the least


def resident(process):
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def all_of(ground, steps):
    row = ground.row(f"memory over {steps} steps")
    place = ground.new("steady")
    process = ground.start("train", ground.data, place, "--epochs", -(-steps // ROWS), "--batch", BATCH, "--threads", 1)
    log, seen = place / "log.jsonl", []
    while process.poll() is None:
        time.sleep(0.5)
        try:
            epochs, kilobytes = log.read_bytes().count(b"\n"), resident(process.pid)
        except OSError:
            continue
        if kilobytes:
            seen.append((epochs, kilobytes))
    ended = ground.end(process)
    row.tried += 1
    total = seen[-1][0] if seen else 0
    early = max((size for epoch, size in seen if total * 0.1 <= epoch < total * 0.3), default=0)
    late = max((size for epoch, size in seen if epoch >= total * 0.8), default=0)
    row.remark = f"{total} epochs: {early / 1024:.1f} MB between 10 and 30 %, {late / 1024:.1f} MB in the last fifth"
    problem = ended.misbehaviour((0,))
    # The log is kept in memory: some hundred bytes per number and epoch.
    if problem or late > early + 4096:
        row.corrupt(problem or "grows: " + row.remark)
    else:
        row.resumed += 1
    yield row
