#!/usr/bin/env python3
"""usage: faults.py PARTWISE [--seed N] [--kills N] [--flips N] [--only KIND ...] [--short]
What befalls programs, done to this one on purpose: it is killed, its files are damaged, disk, memory and clock fail it, others disturb it.
Afterwards finished work must be as it was, and what was begun must go on to the result it would have had. The same seed tries the same
faults; a moment in time is never quite the same twice."""
import argparse
import os
import pathlib
import random
import sys
import tempfile
import time

import clock
import company
import damage
import kills
import scarcity
import steady
from ground import Ground


def table(rows):
    heads = ("what", "tried", "lost", "corrupted", "resumed", "")
    cells = [heads, *((row.what, row.tried, row.lost, row.corrupted, row.resumed, row.remark) for row in rows)]
    widths = [max(len(str(line[column])) for line in cells) for column in range(len(heads))]
    for line in cells:
        print("  ".join(str(cell).ljust(width) if column in (0, 5) else str(cell).rjust(width)
                        for column, (cell, width) in enumerate(zip(line, widths))).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("partwise")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--kills", type=int, default=200, help="SIGKILLs over all commands")
    parser.add_argument("--flips", type=int, default=12, help="damages of each kind of file")
    parser.add_argument("--only", nargs="+", choices=("kills", "damage", "scarcity", "company", "clock", "memory"))
    parser.add_argument("--commands", nargs="+", choices=tuple(kills.OF), help="of the kills")
    parser.add_argument("--short", action="store_true", help="a minute's worth of it, for every build")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="partwise-faults-") as folder:
        ground = Ground(asked.partwise, pathlib.Path(folder), asked.seed)
        short = asked.short
        kinds = {"kills": lambda: kills.all_of(ground, 12 if short else asked.kills,
                                               asked.commands or (("train", "import", "measure") if short else None)),
                 "damage": lambda: damage.all_of(ground, 1 if short else asked.flips, ("resume", "compare") if short else None),
                 "scarcity": lambda: scarcity.all_of(ground, 1 if short else 6, short),
                 "company": lambda: company.all_of(ground, short),
                 "clock": lambda: clock.all_of(ground, 1 if short else 4),
                 "memory": lambda: [] if short else steady.all_of(ground, 10_000)}
        for kind, try_all in kinds.items():
            if asked.only and kind not in asked.only:
                continue
            for row in try_all():
                print(f"{time.monotonic() - start:5.0f} s  {row.what}: {row.tried} tried", flush=True)
                for problem in [*row.problems, *row.notes]:
                    print(f"         {problem}", flush=True)
        print()
        table(ground.rows)
    found = sum(len(row.problems) for row in ground.rows)
    print(f"\n{sum(row.tried for row in ground.rows)} faults, {found} findings, seed {asked.seed}, {time.monotonic() - start:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    os.nice(5)
    sys.exit(main())
