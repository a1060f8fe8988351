"""The log beside what the machine can do: append, read, look up, recover, compact, open.

Each row has its limit, the same work by bare system calls, measured in the same run; and its aim, where there is one.
Rounds are interleaved and the best round counts, because these machines are noisy.

    make bench-storage                  a log of 2 GB
    make bench-storage LOG_GB=10
"""

import argparse
import gc
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from crc32c import crc32c

from kafkish.partitions.validation import UNLIMITED_MS, ProduceRules, only_batch, validate
from kafkish_protocol.records import Batch, Compression, Record, build_batch
from kafkish_storage import DiskFiles, LoadOptions, Log, LogConfig, LogManager, NewLog, StorageConfig, TopicPartition
from kafkish_storage.loading import load_log

NOW_MS = 1_700_000_000_000
BATCH_BYTES = 16 * 1024
SLICE_BYTES = 64 * 1024
DEFAULTS = LogConfig(retention_ms=-1)
GB, MB = 10**9, 10**6
SHORT = 20  # as many times more rounds of what takes milliseconds, so that some are not disturbed

# -- material


def batch_of(size_bytes: int, records: int = 16, **options: Any) -> bytearray:
    """A batch of some records that do not compress, as long as asked for."""
    value = Random(size_bytes).randbytes(size_bytes // records - 20)
    made = [Record(n, NOW_MS, b"key-%04d" % n, value) for n in range(records - 1)]
    rest = size_bytes - len(build_batch([*made, Record(records - 1, NOW_MS, b"key", b"")], **options))
    return build_batch([*made, Record(records - 1, NOW_MS, b"key", bytes(rest - 2))], **options)


def set_time(batch: bytearray, timestamp: int) -> Batch:
    """The same batch as if it had been sent at another time."""
    struct.pack_into(">qq", batch, 27, timestamp, timestamp)
    struct.pack_into(">I", batch, 17, crc32c(memoryview(batch)[21:]))
    return Batch(batch)


@contextmanager
def directory(parent: str | None) -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="kafkish-bench-", dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def new_log(path: Path, config: LogConfig = DEFAULTS) -> Log:
    path.mkdir(parents=True)
    return load_log(DiskFiles(), str(path), config, LoadOptions(NOW_MS, was_clean=True))


def flush(log: Log) -> None:
    job = log.flush()
    job.run()
    job.finish()


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_of(rounds: int, works: Mapping[str, Callable[[int], float]]) -> dict[str, float]:
    """The seconds of each work's best round. A work is told the round's number, and says how long it took."""
    best = dict.fromkeys(works, float("inf"))
    for number in range(rounds):
        for name, work in works.items():
            best[name] = min(best[name], work(number))
    return best


def report(what: str, ours: str, limit: str = "", ratio: float | None = None, aim: float | None = None) -> None:
    shown = "" if ratio is None else f"{ratio:.2f}x"
    verdict = "" if aim is None or ratio is None else f"aim {aim:g}x: {'met' if ratio <= aim else 'MISSED'}"
    print(f"{what:50}{ours:>22}{limit:>30}{shown:>8}  {verdict}".rstrip(), flush=True)


def judged(value: float, aim: float, unit: str) -> str:
    return f"aim {aim:g} {unit}: {'met' if value <= aim else 'MISSED'}"


# -- append


def append(path: Path, rounds: int) -> None:
    """Batches of 16 kB at the end of a file, 4 MB a round."""
    count = 256
    plain, idempotent = batch_of(BATCH_BYTES), batch_of(BATCH_BYTES, **PRODUCER)
    best = best_of(rounds * SHORT, {
        "pwrite": bare_pwrite(path, bytes(plain), count),
        "plain": appending(new_log(path / "plain"), bytes(plain), count),
        "idempotent": appending(new_log(path / "idempotent"), bytes(idempotent), count),
        "received": receiving(new_log(path / "received"), idempotent, count),
    })  # fmt: skip
    limit = best["pwrite"] / count
    rows = {
        "plain": "append of 16 kB batches",
        "idempotent": "  with a producer's sequences",
        "received": "  and with all that the broker checks",
    }
    for name, title in rows.items():
        aim = 2.0 if name != "received" else None
        report(title, speed(best[name] / count), f"os.pwrite {speed(limit)}", best[name] / count / limit, aim)


PRODUCER = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}


def speed(batch_s: float) -> str:
    return f"{batch_s * 1e6:.1f} us {BATCH_BYTES / batch_s / MB:,.0f} MB/s"


def bare_pwrite(path: Path, data: bytes, count: int) -> Callable[[int], float]:
    descriptor = os.open(path / "bare", os.O_RDWR | os.O_CREAT)

    def write(number: int) -> None:
        for position in range(number * count * len(data), (number + 1) * count * len(data), len(data)):
            os.pwrite(descriptor, data, position)

    return lambda number: seconds(lambda: write(number))


def appending(log: Log, data: bytes, count: int) -> Callable[[int], float]:
    """A batch each millisecond. They have been parsed, as by a broker that has validated them."""

    def write(number: int) -> float:
        batches = [Batch(data) for _ in range(count)]
        for n, batch in enumerate(batches, number * count):
            batch.max_timestamp += n
            batch.base_sequence = n * batch.count if batch.producer_id >= 0 else -1
        return seconds(lambda: [log.append_as_leader([batch], 0, NOW_MS) for batch in batches])

    return write


def receiving(log: Log, template: bytearray, count: int) -> Callable[[int], float]:
    """The same from bytes as they come in a frame, with all that the broker checks before it appends them."""
    rules = ProduceRules(timestamp_after_max_ms=UNLIMITED_MS)

    def write(number: int) -> float:
        frames = [memoryview(numbered(template, n)) for n in range(number * count, (number + 1) * count)]
        return seconds(
            lambda: [
                log.append_as_leader([validate(only_batch(frame, 12), rules, NOW_MS, "t-0")], 0, NOW_MS)
                for frame in frames
            ]
        )

    return write


def numbered(template: bytearray, number: int) -> bytes:
    """One of many batches of the same producer."""
    frame = bytearray(template)
    struct.pack_into(">i", frame, 53, number * 16)
    set_time(frame, NOW_MS + number)
    return bytes(frame)


# -- read and look up


def fill(path: Path, size_bytes: int) -> Log:
    """A log of batches of 16 kB, one each millisecond."""
    log = new_log(path)
    template = batch_of(BATCH_BYTES)
    for number in range(size_bytes // BATCH_BYTES):
        log.append_as_leader([set_time(template, NOW_MS + number)], 0, NOW_MS)
    flush(log)
    return log


def read(log: Log, rounds: int) -> None:
    """Slices of 64 kB at random offsets; the limit knows where they are."""
    count, dice = 100, Random(1)
    offsets = [[dice.randrange(log.end_offset) for _ in range(count)] for _ in range(rounds * SHORT)]
    places = [[place_of(log, offset) for offset in some] for some in offsets]
    best = best_of(rounds * SHORT, {
        "find": lambda n: seconds(lambda: [log.read(offset, SLICE_BYTES) for offset in offsets[n - 1]]),
        "read": lambda n: seconds(lambda: [read_at(log, offset) for offset in offsets[n]]),
        "pread": lambda n: seconds(lambda: [len(os.pread(*place)) for place in places[n - 2]]),
    })  # fmt: skip
    find, both, limit = (best[name] / count * 1e6 for name in ("find", "read", "pread"))
    report(f"find a slice of a {log.size_bytes / GB:.1f} GB log by a random offset", f"{find:.1f} us")
    report("  and read its 64 kB", f"{both:.1f} us", f"os.pread {limit:.1f} us", both / limit)


def place_of(log: Log, offset: int) -> tuple[int, int, int]:
    found = log.read(offset, SLICE_BYTES).records
    assert found is not None
    return found.file.fileno(), found.length, found.position


def read_at(log: Log, offset: int) -> int:
    found = log.read(offset, SLICE_BYTES).records
    return len(found.read()) if found else 0


def look_up(log: Log, rounds: int) -> None:
    """Timestamps of the whole log, most of them between two entries of an index."""
    count, dice = 100, Random(2)
    newest = NOW_MS + log.size_bytes // BATCH_BYTES

    def work(_: int) -> float:
        times = [dice.randrange(NOW_MS, newest) for _ in range(count)]
        return seconds(lambda: [log.offset_of_timestamp(one) for one in times])

    best = best_of(rounds * SHORT, {"ours": work})["ours"] / count
    report("find a record by a random timestamp", f"{best * 1e6:.1f} us {1 / best:,.0f}/s")


# -- recover


def recover(log: Log, rounds: int) -> None:
    """Open the log again as after a kill that nothing was flushed before."""
    options = LoadOptions(NOW_MS, was_clean=False)
    best = best_of(rounds, {
        "ours": lambda _: seconds(lambda: load_log(DiskFiles(), log.home.path, DEFAULTS, options)),
        "bare": lambda _: seconds(lambda: check_all(log)),
    })  # fmt: skip
    rates = {name: log.size_bytes / took / MB for name, took in best.items()}
    limit = f"read and CRC {rates['bare']:,.0f} MB/s"
    report("recovery after a kill", f"{rates['ours']:,.0f} MB/s", limit, best["ours"] / best["bare"])


def check_all(log: Log) -> None:
    for segment in log.segments:
        descriptor, position = segment.file.fileno(), 0
        while chunk := os.pread(descriptor, 1 << 20, position):
            crc32c(chunk)
            position += len(chunk)


# -- compact


def compact(path: Path, records: int = 400_000, keys: int = 100_000) -> None:
    """Records of 100 bytes, a hundred to a batch, four to a key."""
    for compression in (Compression.NONE, Compression.LZ4):
        config = StorageConfig(config_of=lambda _: LogConfig(cleanup_policy=frozenset({"compact"})))
        place = path / compression.name
        manager = LogManager.open(DiskFiles(), [str(place)], config, now_ms=NOW_MS, dice=Random(0))
        log = create(manager, ["changes"])[0]
        dice = Random(3)
        for _ in range(records // 100):
            made = [Record(n, NOW_MS, b"key-%08d" % dice.randrange(keys), bytes(80)) for n in range(100)]
            log.append_as_leader([Batch(build_batch(made, compression=compression))], 0, NOW_MS)
        make_cleanable(manager, log)
        job = manager.next_compaction(NOW_MS)
        assert job is not None
        took = seconds(job.run)
        job.adopt()
        job.swap()
        manager.compaction_ended(job, job.finish())
        manager.close()
        codec = compression.name.lower()
        report(f"compaction, codec {codec}", f"{records / took:,.0f} records/s")


def make_cleanable(manager: LogManager, log: Log) -> None:
    log.roll(NOW_MS)
    log.update_high_watermark(log.end_offset)
    flush(log)
    checkpoint = manager.directories[0].checkpoint_recovery_points()
    checkpoint.run()
    checkpoint.finish()


def create(manager: LogManager, topics: list[str], partitions: int = 1) -> list[Log]:
    new = [NewLog(TopicPartition(topic, n), "A" * 21 + "Q") for topic in topics for n in range(partitions)]
    job = manager.create(new, NOW_MS)
    job.run()
    return job.finish()


# -- open


def open_many(path: Path, rounds: int, partitions: int) -> None:
    """A directory of clean partitions, opened by a new process whose page cache has nothing of it."""
    manager = LogManager.open(DiskFiles(), [str(path)], StorageConfig(), now_ms=NOW_MS, dice=Random(0))
    data = bytes(batch_of(1000, 4, **PRODUCER))
    for log in create(manager, [f"topic-{n}" for n in range(partitions // 10)], 10):
        for number in range(10):
            batch = Batch(data)
            batch.base_sequence = number * 4
            log.append_as_leader([batch], 0, NOW_MS)
    manager.close()
    found = []
    for _ in range(rounds):
        drop_cache(path)
        command = [sys.executable, __file__, "--open", str(path)]
        found.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    took, at_rest, in_use = (min(one[name] for one in found) for name in ("seconds", "at_rest", "in_use"))
    title = f"cold open of {partitions:,} clean partitions"
    report(title, f"{took:.2f} s", judged(took, 1.0 * partitions / 1000, "s"))
    report("  memory that they take at rest", f"{at_rest / MB:.1f} MB", judged(at_rest / MB, 0.03 * partitions, "MB"))
    report("  and when each has been appended to", f"{in_use / MB:.1f} MB")


def drop_cache(path: Path) -> None:
    for file in path.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def open_here(path: str) -> None:
    """What the new process does."""
    batch = bytes(batch_of(1000, 4))
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    gc.collect()
    before = resident_bytes()
    start = time.perf_counter()
    manager = LogManager.open(DiskFiles(), [path], StorageConfig(), now_ms=NOW_MS, dice=Random(0))
    took = time.perf_counter() - start
    gc.collect()
    at_rest = resident_bytes() - before
    for log in manager.logs:
        log.append_as_leader([Batch(batch)], 0, NOW_MS)
    in_use = resident_bytes() - before
    manager.close()
    print(json.dumps({"seconds": took, "at_rest": at_rest, "in_use": in_use}))


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--log-gb", type=float, default=2)
    parser.add_argument("--partitions", type=int, default=1000)
    parser.add_argument("--dir", help="where to write; the system's temporary directory if not given")
    parser.add_argument("--open", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open:
        open_here(options.open)
        return
    print(f"{'best of ' + str(options.rounds):50}{'kafkish':>22}{'limit':>30}")
    with directory(options.dir) as path:
        append(path, options.rounds)
        log = fill(path / "large", int(options.log_gb * GB))
        read(log, options.rounds)
        look_up(log, options.rounds)
        recover(log, min(options.rounds, 3))
        shutil.rmtree(path / "large")
        compact(path)
        open_many(path / "many", min(options.rounds, 3), options.partitions)


if __name__ == "__main__":
    main()
