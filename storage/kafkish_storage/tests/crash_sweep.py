"""Explores crash states on all cores until there are enough of them; a seed that fails can be run again alone."""

import argparse
import multiprocessing
import sys
from collections.abc import Iterator
from itertools import count

from kafkish_storage.tests.crash_actions import Actions
from kafkish_storage.tests.crash_world import World

STEPS = 60
LONG_STEPS = 400  # of every tenth run: some states take many steps to come to


def explore(seed: int) -> tuple[int, str | None]:
    """One run: how many different states were started from, and what was wrong with the last."""
    world = World(seed)
    try:
        Actions(world).run(STEPS if seed % 10 else LONG_STEPS)
    except Exception as error:  # a crash of the simulation is a finding, too
        return len(world.distinct), f"seed {seed}: {type(error).__name__}: {error}"
    return len(world.distinct), None


def explore_many(first_seed: int, states: int, processes: int) -> Iterator[tuple[int, str | None]]:
    """The states so far and the failure, if there was one, after each run."""
    total = 0
    with multiprocessing.Pool(processes) as pool:
        for found, failure in pool.imap_unordered(explore, count(first_seed)):
            total += found
            yield total, failure
            if total >= states:
                pool.terminate()
                return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=100_000)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    arguments = parser.parse_args()
    failures = total = runs = 0
    for total, failure in explore_many(arguments.first_seed, arguments.states, arguments.processes):  # noqa: B007
        runs += 1
        if failure is not None:
            failures += 1
            sys.stderr.write(f"{failure}\n")
    sys.stdout.write(
        f"{total:,} different crash states in {runs} runs of {STEPS} or {LONG_STEPS} steps, {failures} runs failed\n"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
