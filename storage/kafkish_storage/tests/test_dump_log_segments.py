"""Kafka's own DumpLogSegments reads what this room writes, sees what this room sees, and has nothing to complain of."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafkish_protocol.records import Record, read_batches
from kafkish_storage.producers import snapshot
from kafkish_storage.tests.dump_tool import dump, files_of, unavoidable
from kafkish_storage.tests.sample_logs import CONFIGS, open_manager, write_sample

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module", params=["stopped", "crashed"])
def directory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory after a clean stop, and one whose logs were recovered after a crash."""
    path = tmp_path_factory.mktemp("data")
    manager = write_sample(path)
    if request.param == "crashed":
        (path / "recovery-point-offset-checkpoint").unlink()
        for one in manager.directories:
            one.abandon()
        manager = open_manager(path)
    manager.close()
    return path


# -- what the tool has read


def dumped_records(lines: list[str]) -> Iterator[tuple[int, int, str | None, str | None]]:
    """Offset, timestamp, key and payload of every record that is not a control record."""
    pattern = re.compile(
        r"\| offset: (\d+) \w+: (-?\d+) keySize: (-?\d+) valueSize: (-?\d+) .*?headerKeys: \[.*?\](.*)"
    )
    for line in lines:
        found = pattern.fullmatch(line)
        if found and "endTxnMarker" not in line:
            offset, timestamp, key_size, value_size, rest = found.groups()
            key, _, payload = rest.removeprefix(" key: ").partition(" payload: ")
            if int(key_size) < 0:
                key, payload = "", rest.removeprefix(" payload: ")
            yield (
                int(offset),
                int(timestamp),
                key.strip() if int(key_size) >= 0 else None,
                payload if int(value_size) >= 0 else None,
            )


def as_dumped(record: Record) -> tuple[int, int, str | None, str | None]:
    key, value = (None if data is None else data.decode() for data in (record.key, record.value))
    return record.offset, record.timestamp, key, value


def test_kafka_reads_every_record_of_every_segment(directory: Path, show: Callable[[str], None]) -> None:
    topics = [topic for topic in CONFIGS if topic != "__transaction_state"]  # whose bytes are not text
    for topic in topics:
        assert len(files_of(directory, topic, (".log",))) > 1
    files = [path for topic in topics for path in files_of(directory, topic, (".log",))]
    ours = [batch for path in files for batch in read_batches(path.read_bytes())]
    dumped = dump(files, "--deep-iteration", "--print-data-log")
    assert dumped.complaints == unavoidable(files)
    headers = [line for line in dumped.lines if line.startswith("baseOffset")]
    assert len(headers) == len(ours)
    assert all(line.endswith("isvalid: true") for line in headers)
    assert not [line for line in dumped.lines if line.startswith("Found")]
    records = [as_dumped(record) for batch in ours if not batch.is_control for record in batch.records()]
    assert list(dumped_records(dumped.lines)) == records

    show(f"DumpLogSegments reads {len(records):,} records in {len(ours):,} batches of {len(files)} segments as we do")


def test_indexes_pass_kafkas_sanity_check(directory: Path) -> None:
    indexes = files_of(directory, kinds=(".index", ".timeindex"))
    dumped = dump(indexes, "--index-sanity-check")
    assert dumped.complaints == {}
    good = [line for line in dumped.lines if line.endswith(("passed sanity check.", "is empty."))]
    assert len(good) == len(indexes) > 20


def test_every_index_entry_points_to_its_batch(directory: Path) -> None:
    indexes = files_of(directory, kinds=(".index", ".timeindex"))
    assert dump(indexes, "--verify-index-only").complaints == unavoidable(indexes)


def test_kafka_reads_producer_snapshots_and_transaction_indexes(directory: Path) -> None:
    files = files_of(directory, kinds=(".snapshot", ".txnindex"))
    dumped = dump(files)
    assert dumped.complaints == {}
    snapshots = [path for path in files if path.suffix == ".snapshot"]
    entries = [entry for path in snapshots for entry in snapshot.parse(path.read_bytes()) or []]
    assert len([line for line in dumped.lines if line.startswith("producerId")]) == len(entries) > 20
    aborted = sum(path.stat().st_size // 34 for path in files if path.suffix == ".txnindex")
    assert len([line for line in dumped.lines if line.startswith("version: 0 producerId: ")]) == aborted > 10


def test_kafka_decodes_a_transaction_log(directory: Path) -> None:
    files = files_of(directory, "__transaction_state", (".log",))
    dumped = dump(files, "--transaction-log-decoder", "--deep-iteration")
    assert dumped.complaints == unavoidable(files)
    lines = [line for line in dumped.lines if line.startswith("| offset")]
    kept = [record for path in files for batch in read_batches(path.read_bytes()) for record in batch.records()]
    assert len(lines) == len(kept) < 500  # it was compacted
    newest = {}
    for line in lines:
        key, _, payload = line.partition(" key: ")[2].partition(" payload: ")
        newest[json.loads(key)["data"]["transactionalId"]] = payload
    assert len(newest) == 40
    assert newest["id-19"] == "<DELETE>"
    assert json.loads(newest["id-18"])["data"]["producerId"] == 18
