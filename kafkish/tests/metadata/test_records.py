"""Metadata records as bytes: Kafka's own, frame included."""

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import apache_kafka
import pytest

from kafkish.metadata import versions
from kafkish.metadata.records import decode_record, encode_record, record_classes, record_version
from kafkish_protocol.errors import CodecError
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_nodes import BrokerRegistrationChangeRecord, RegisterBrokerRecord
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord, PartitionRecord, TopicRecord
from kafkish_protocol.stored.metadata_transactions import NoOpRecord
from kafkish_protocol.tests.samples import sample
from kafkish_protocol.types import Uuid

SOURCE = Path(__file__).parent / "java" / "MetadataRecords.java"
SAMPLES_PER_VERSION = 10


def samples() -> list[tuple[MetadataRecord, int]]:
    dice = random.Random(43)
    found = []
    for kind in record_classes().values():
        for version in kind.schema.versions:
            for _ in range(SAMPLES_PER_VERSION):
                record = sample(kind, version, dice)
                assert isinstance(record, MetadataRecord)
                found.append((record, version))
    return found


def test_every_type_of_kafkas_is_known() -> None:
    assert set(record_classes()) == set(range(29)) - {6, 13, 16}  # which Kafka does not use


def test_what_is_written_is_read_again() -> None:
    for record, version in samples():
        assert decode_record(encode_record(record, version)) == (record, version)


def test_frame_is_three_numbers_before_the_record() -> None:
    assert encode_record(NoOpRecord(), 0) == bytes([1, 20, 0, 0])


@pytest.mark.kafka
def test_kafka_reads_and_writes_the_same_bytes(show: Callable[[str], None]) -> None:
    records = samples()
    lines = "".join(encode_record(record, version).hex() + "\n" for record, version in records)
    run = subprocess.run(
        apache_kafka.java(str(SOURCE)), input=lines, capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stderr
    expected = [f"{r.schema.name} {version} {encode_record(r, version).hex()}" for r, version in records]
    assert run.stdout.splitlines() == expected
    show(
        f"metadata records: {len(records)} of {len(record_classes())} types through Kafka's MetadataRecordSerde, equal"
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not a metadata record"),
        (bytes([0, 20, 0, 0]), "frame version 0"),
        (bytes([2, 20, 0, 0]), "frame version 2"),
        (bytes([1, 6, 0, 0]), "unknown type"),
        (bytes([1, 20, 1, 0]), "has versions 0, not 1"),
        (bytes([1, 20, 0, 0, 0]), "1 bytes after the record"),
        (bytes([1, 20, 0x80, 0x80, 0x80, 0x80, 0x80, 0]), "longer than 5 bytes"),
        (encode_record(TopicRecord(name="t", topic_id=Uuid(bytes(16))), 0)[:-3], "TopicRecord"),
    ],
)
def test_anything_else_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(CodecError, match=reason):
        decode_record(data)


@pytest.mark.parametrize(
    ("record", "levels_and_versions"),
    [
        (PartitionRecord(), {7: 0, 16: 0, 17: 1, 22: 1, 23: 2, 30: 2}),
        (PartitionChangeRecord(), {7: 0, 17: 1, 23: 2, 30: 2}),
        (RegisterBrokerRecord(), {7: 1, 8: 2, 16: 2, 17: 3, 29: 3, 30: 4}),
        (BrokerRegistrationChangeRecord(fenced=1), {30: 0}),
        (BrokerRegistrationChangeRecord(in_controlled_shutdown=1), {30: 1}),
        (BrokerRegistrationChangeRecord(log_dirs=[Uuid(bytes(16))]), {30: 2}),
        (BrokerRegistrationChangeRecord(cordoned_log_dirs=[]), {30: 3}),
        (TopicRecord(), {7: 0, 30: 0}),
    ],
)
def test_version_of_a_record_follows_from_metadata_version(
    record: MetadataRecord, levels_and_versions: dict[int, int]
) -> None:
    assert {level: record_version(record, level) for level in levels_and_versions} == levels_and_versions


def test_going_back_loses_metadata_only_across_levels_that_brought_records() -> None:
    assert not versions.loses_metadata(29, 24)
    assert not versions.loses_metadata(30, 30)
    assert versions.loses_metadata(30, 29)
    assert versions.loses_metadata(24, 22)
