"""Cost grows as it should: a produce beside more partitions and more records, a fetch of old records beside new ones.

Latency of one request at a time, on kafkish and on Apache Kafka. Flat is what is aimed at: each line is compared with
the first of its kind, on the same broker.

    make bench-growth
    make bench-growth ARGS='--records 1000000'
"""

import argparse
import json
import statistics
import sys
from random import Random
from typing import Final

from bench.versus.brokers import Broker, both
from bench.versus.latency import ALL, one_at_a_time, single
from bench.versus.load import ProduceLane, close, drive
from bench.versus.report import RESULTS
from bench.versus.rows import BATCH_BYTES, topic_of, warm_up
from bench.versus.wire import Topic, Wire, fetch_request, frame, make_batch

PARTITIONS: Final = (1, 10, 100, 1_000)
VALUE_BYTES: Final = 100
FETCH_BYTES: Final = 65_536
RECORDS: Final = (1, 10_000, 100_000, 1_000_000, 10_000_000)
SEED: Final = 1
AIM: Final = 2.0

Found = dict[str, list[float]]


def add(found: Found, name: str, latencies_s: list[float]) -> None:
    """The median of a round."""
    found.setdefault(name, []).append(statistics.median(latencies_s) * 1000)
    print(f"\r\x1b[K{name}", end="", file=sys.stderr, flush=True)


def by_partitions(broker: Broker, samples: int, found: Found) -> None:
    """A record to each partition in turn; their files are open when the clock starts."""
    for partitions in PARTITIONS:
        with topic_of(broker, partitions) as (wire, topic):
            frames = single(topic)
            one_at_a_time(wire, frames, 120, at_most=partitions)
            add(found, f"produce, by partitions: {partitions:,}", one_at_a_time(wire, frames, 120, at_most=samples))


def by_records(broker: Broker, records: int, samples: int, found: Found) -> None:
    """The same record behind a log that grows; then fetches in the log that this makes."""
    with topic_of(broker, 1) as (wire, topic):
        frames = single(topic, make_batch(VALUE_BYTES, 0))
        for wanted in (number for number in RECORDS if number <= records):
            fill(broker, wire, topic, wanted)
            one_at_a_time(wire, frames, 120, at_most=samples // 10)
            add(found, f"produce, by records in the log: {wanted:,}", one_at_a_time(wire, frames, 120, samples))
        by_offset(broker, wire, topic, samples, found)


def fill(broker: Broker, wire: Wire, topic: Topic, wanted: int) -> None:
    """Whole batches until the partition has at least so many records."""
    batch = make_batch(VALUE_BYTES, BATCH_BYTES)
    missing = wanted - wire.end_offsets(topic)[0]
    if missing > 0:
        lanes = [ProduceLane(broker.address, topic, batch, ALL, depth=2)]
        drive(lanes, 600, missing * VALUE_BYTES)
        close(lanes)


def by_offset(broker: Broker, wire: Wire, topic: Topic, samples: int, found: Found) -> None:
    """As many bytes, in batches of the same size, at the head of the log as anywhere before it."""
    at_head = 2 * FETCH_BYTES // VALUE_BYTES
    fill(broker, wire, topic, wire.end_offsets(topic)[0] + at_head)
    head = wire.end_offsets(topic)[0] - at_head
    dice = Random(SEED)
    places = {"at the head": [head] * samples, "at random offsets": [dice.randrange(head) for _ in range(samples)]}
    for where, offsets in places.items():
        frames = [frame(fetch_request(topic, {0: offset}, FETCH_BYTES)) for offset in offsets]
        one_at_a_time(wire, frames, 120, at_most=samples)  # the page cache has what it can hold
        add(found, f"fetch of 64 kB: {where}", one_at_a_time(wire, frames, 120, at_most=samples))


def table(found: dict[str, Found]) -> str:
    """A line for each measurement, with its ratio to the first of its kind."""
    names = list(found)
    lines = [f"| one at a time, p50 | {' | | '.join(names)} | |", "|---|" + "--:|--:|" * len(names)]
    firsts: dict[tuple[str, str], float] = {}
    for row in found[names[0]]:
        cells = []
        for name in names:
            value = statistics.median(found[name][row])
            first = firsts.setdefault((name, row.partition(":")[0]), value)
            cells.append(f"{value:.3f} ms | {value / first:.2f}x")
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n\nA ratio is to the first line of the same kind; the aim is at most {AIM:g}x.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000_000, metavar="N", help="in the longest log")
    parser.add_argument("--samples", type=int, default=2_000, metavar="N", help="of each latency")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--warm-up", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--only", default="", metavar="BROKER", help="one of the two, for a look")
    options = parser.parse_args()
    with both(options.only) as brokers:
        found: dict[str, Found] = {name: {} for name in brokers}
        for broker in brokers.values():
            warm_up(broker, options.warm_up)
        for _ in range(options.rounds):
            for name, broker in brokers.items():
                by_partitions(broker, options.samples, found[name])
                by_records(broker, options.records, options.samples, found[name])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "growth.json").write_text(json.dumps(found, indent=1))
    (RESULTS / "growth.md").write_text(table(found))
    print(f"\r\x1b[K{table(found)}")


if __name__ == "__main__":
    main()
