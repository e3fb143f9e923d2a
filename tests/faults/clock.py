"""A wall clock that jumps years ahead and back between any two looks at it: no result depends on it."""
from ground import MEASURE, TRAIN, differences, half_written, snapshot
from kills import CLOCKED


def all_of(ground, times):
    row = ground.row("clock jumps")
    if not ground.shim:
        row.remark = "skipped: no C compiler"
        yield row
        return
    command = lambda place: ["train", ground.data, place, *TRAIN, "--resume"]
    undisturbed = ground.new("clock")
    ground.must(*command(undisturbed))
    measured = snapshot(ground.whole, CLOCKED)
    for _ in range(times):
        years = ground.random.choice((-50, -1, 1, 11, 100))
        fault = {"FAULT_CLOCK": years * 31_556_952}
        place = ground.new("clock")
        changes = ground.counted(*command(ground.new("clock")))[0]
        ground.run(*command(place), fault={**fault, "FAULT_KILL": ground.random.randint(1, changes)})
        for name, place, words, reference in (("train, killed and resumed", place, command(place), snapshot(undisturbed, CLOCKED)),
                                              ("measure", ground.copy(ground.whole, "clock"), None, measured)):
            ended = ground.run(*(words or ["measure", place, *MEASURE]), fault=fault)
            row.tried += 1
            problem = ended.misbehaviour((0,)) or differences(reference, snapshot(place, CLOCKED)) or ", ".join(half_written(place))
            if problem:
                row.corrupt(f"{name}, {years} years: {problem}")
            else:
                row.resumed += 1
    ground.check_finished(row)
    yield row
