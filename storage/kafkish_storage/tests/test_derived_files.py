"""Whatever happens to a file that is derived from the log, every answer stays the same."""

from collections.abc import Callable, Sequence
from itertools import chain, combinations
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest

from kafkish_protocol.records import Batch, Compression
from kafkish_storage.config import LogConfig
from kafkish_storage.files import DiskFiles
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.loading import LoadOptions, load_log
from kafkish_storage.log import Log
from kafkish_storage.names import INDEX_KINDS, TRANSACTION_INDEX, segment_file
from kafkish_storage.producers import Origin, VerificationGuard
from kafkish_storage.tests.making import batch, flush, marker, read_all

CONFIG = LogConfig(segment_bytes=3000, index_interval_bytes=200, segment_index_bytes=1200)
VOUCHERS = "transaction-index-checkpoint"
DERIVED = ("*.index", "*.timeindex", "*.txnindex", "*.snapshot", "leader-epoch-checkpoint", VOUCHERS)
SUBSETS = [some for count in range(1, len(DERIVED) + 1) for some in combinations(DERIVED, count)]
RECORDS = 240
Written: TypeAlias = tuple[dict[str, bytes], dict[str, object], int]  # a log's files, its answers, its end offset


def damage_delete(path: Path, _: Random) -> None:
    path.unlink()


def damage_empty(path: Path, _: Random) -> None:
    path.write_bytes(b"")


def damage_cut(path: Path, dice: Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: dice.randrange(len(data) + 1)])


def damage_noise(path: Path, dice: Random) -> None:
    path.write_bytes(dice.randbytes(len(path.read_bytes())))


def damage_one_byte(path: Path, dice: Random) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(data)


def damage_zeros(path: Path, _: Random) -> None:
    path.write_bytes(bytes(len(path.read_bytes())))


def damage_older(path: Path, _: Random) -> None:
    """As it was some time ago: whole entries are missing at the end."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 // 24 * 24])


DAMAGES = [damage_delete, damage_empty, damage_cut, damage_noise, damage_one_byte, damage_zeros, damage_older]


def write_log(path: Path) -> int:
    """A log of several segments, epochs and codecs, with a committed, two aborted and an open transaction."""
    log = open_log(path, was_clean=True)
    dice, sequences = Random(7), {1: 0, 2: 0, 3: 0}
    for at in range(RECORDS):
        now_ms = 1000 + at * 10
        epoch = at // 60
        producer_id = (-1, 1, 2, 3)[at % 4]
        codec = (Compression.NONE, Compression.LZ4, Compression.GZIP)[at % 3]
        values = [dice.randbytes(dice.randrange(60)) for _ in range(3)]
        if producer_id < 0:
            one = batch(*values, timestamp=now_ms + dice.randrange(-50, 50), compression=codec)
            log.append_as_leader([one], epoch, now_ms)
            continue
        one = batch(
            *values, timestamp=now_ms, producer_id=producer_id, epoch=0, sequence=sequences[producer_id],
            transactional=producer_id > 1, compression=codec,
        )  # fmt: skip
        sequences[producer_id] += 3
        log.append_as_leader([one], epoch, now_ms, origin=Origin.REPLICATION, guard=guard_of(log, one, now_ms))
        if producer_id > 1 and at % 28 in (2, 3) and at < RECORDS - 5:
            end = marker(at % 3 == 0, producer_id, timestamp=now_ms)
            log.append_as_leader([end], epoch, now_ms, origin=Origin.COORDINATOR)
    log.close()
    return log.end_offset


def guard_of(log: Log, one: Batch, now_ms: int) -> VerificationGuard | None:
    return log.producers.start_verification(
        one.producer_id, one.base_sequence, 0, supports_epoch_bump=False, now_ms=now_ms
    )


def open_log(path: Path, *, was_clean: bool, recovery_point: int = 0) -> Log:
    options = LoadOptions(now_ms=5000, was_clean=was_clean, recovery_point=recovery_point)
    return load_log(DiskFiles(), str(path), CONFIG, options)


def answers(log: Log) -> dict[str, object]:
    """Everything that can be asked of a log."""
    log.update_high_watermark(log.end_offset)
    offsets = range(0, log.end_offset, 7)
    return {
        "batches": [bytes(one.view) for one in read_all(log)],
        "by offset": [log.read(offset, 1).base_offset for offset in offsets],
        "by time": [log.offset_of_timestamp(timestamp) for timestamp in range(900, 3500, 37)],
        "newest": log.largest_timestamp(),
        "epochs": [log.end_of_epoch(epoch) for epoch in range(6)],
        "aborted": [log.aborted_transactions(offset, log.end_offset) for offset in offsets],
        "stable": log.last_stable_offset,
        "producers": {
            key: (one.epoch, one.last_sequence, one.last_data_offset, one.transaction_first_offset)
            for key, one in log.producers.producers.items()
        },
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    path = tmp_path_factory.mktemp("log")
    end_offset = write_log(path)
    files = {one.name: one.read_bytes() for one in path.iterdir()}
    return files, answers(open_log(path, was_clean=True)), end_offset


@pytest.mark.parametrize("was_clean", [True, False], ids=["clean", "crashed"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__.removeprefix("damage_"))
@pytest.mark.parametrize("pattern", [*DERIVED, "all"])
def test_a_damaged_derived_file_changes_no_answer(
    tmp_path: Path,
    written: Written,
    pattern: str,
    damage: Callable[[Path, Random], None],
    was_clean: bool,
) -> None:
    dice = Random(f"{pattern} {damage}")
    patterns = DERIVED if pattern == "all" else [pattern]
    check_that_nothing_changes(tmp_path, written, patterns, lambda path: damage(path, dice), was_clean=was_clean)


@pytest.mark.parametrize("was_clean", [True, False], ids=["clean", "crashed"])
@pytest.mark.parametrize("kind", ["delete", "any"])
def test_any_kinds_of_derived_files_damaged_together_change_no_answer(
    tmp_path: Path, written: Written, kind: str, was_clean: bool
) -> None:
    dice = Random(f"{kind} {was_clean}")
    damages = [damage_delete] if kind == "delete" else DAMAGES
    assert len(SUBSETS) == 63
    for number, patterns in enumerate(SUBSETS):
        path = tmp_path / str(number)
        path.mkdir()
        check_that_nothing_changes(
            path, written, patterns, lambda path: dice.choice(damages)(path, dice), was_clean=was_clean
        )


def check_that_nothing_changes(
    path: Path,
    written: Written,
    patterns: Sequence[str],
    damage: Callable[[Path], None],
    *,
    was_clean: bool,
) -> None:
    """Nor when the log has been stopped and is opened again: what was derived is as good as what was lost."""
    files, expected, end_offset = written
    for name, data in files.items():
        (path / name).write_bytes(data)
    damaged = [sorted(path.glob(pattern)) for pattern in patterns]
    assert all(damaged)
    for one in chain(*damaged):
        damage(one)
    log = open_log(path, was_clean=was_clean, recovery_point=end_offset)
    found = answers(log)
    for question, answer in expected.items():
        assert found[question] == answer, (patterns, question)
    log.close()
    assert answers(open_log(path, was_clean=True)) == found


# -- transaction indexes that nobody vouches for, as in a directory that Apache Kafka has written


def without_vouchers(written: Written) -> MemoryFiles:
    """A disk that can be watched, without a word of aborted transactions but in the log itself."""
    disk = with_all(written)
    for name in written[0]:
        if name == VOUCHERS or name.endswith(".txnindex"):
            disk.remove(f"/log/{name}")
    return disk


def with_all(written: Written) -> MemoryFiles:
    disk = MemoryFiles()
    disk.make_directory("/log")
    for name, data in written[0].items():
        disk.open(f"/log/{name}", create=True).write(0, [data], len(data))
    return disk


def open_in(disk: MemoryFiles) -> Log:
    return load_log(disk, "/log", CONFIG, LoadOptions(now_ms=5000, was_clean=True))


def logs_read(disk: MemoryFiles, work: Callable[[], object]) -> set[int]:
    """The base offsets of the segments of which something is read, apart from their first bytes."""
    read: list[str] = []

    def watch(operation: str, path: str) -> None:
        if operation == "read" and path.endswith(".log"):
            read.append(path)

    disk.fault = watch
    work()
    disk.fault = None
    return {int(Path(path).stem) for path in read}


def test_a_reader_of_committed_records_pays_for_the_segments_that_it_reads_once(written: Written) -> None:
    disk = without_vouchers(written)
    log = open_in(disk)
    bases = [segment.base_offset for segment in log.segments]

    def fetch() -> None:
        log.read(bases[2], 1 << 20, with_aborted=True)

    assert bases[2] in logs_read(disk, fetch) <= set(bases[2:6])
    log.sleep()
    assert logs_read(disk, fetch) == {bases[2]}, "a batch is looked up, nothing is scanned"
    log.close()
    log = open_in(disk)
    assert logs_read(disk, fetch) == {bases[2]}, "nor after a restart"


def test_opening_a_log_scans_nothing_for_aborted_transactions(written: Written) -> None:
    disk, vouched = without_vouchers(written), with_all(written)
    assert logs_read(disk, lambda: open_in(disk)) == logs_read(vouched, lambda: open_in(vouched))


def test_an_aborted_transaction_that_ends_before_anyone_asks_is_written_with_those_before_it(written: Written) -> None:
    """In the segment that Apache Kafka has begun: it may be Kafka that reads the index next."""
    log = open_in(without_vouchers(written))
    known = open_in(with_all(written))
    for one in (log, known):
        one.append_as_leader([marker(False, 2, timestamp=5000)], 4, 5000, origin=Origin.COORDINATOR)
        one.close()
    assert log.aborted_transactions(0, log.end_offset) == known.aborted_transactions(0, known.end_offset)
    last = segment_file(log.segments.active.base_offset, TRANSACTION_INDEX)
    found = log.home.files.read(log.home / last)
    assert found
    assert found == known.home.files.read(known.home / last)


def test_damage_while_the_log_is_open_changes_no_answer(tmp_path: Path) -> None:
    write_log(tmp_path)
    log = open_log(tmp_path, was_clean=True)
    expected = answers(log)
    log.sleep()
    for kind in INDEX_KINDS[:2]:
        for path in tmp_path.glob(f"*{kind}"):
            damage_noise(path, Random(3))
    assert answers(log) == expected
    flush(log)
