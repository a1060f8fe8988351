"""Batches that this room makes, it reads; what a broker changes in place stays valid."""

import random
import struct

import pytest
from crc32c import crc32c

from kafkish_protocol.records import (
    HEADER_BYTES,
    Batch,
    BatchHeader,
    Compression,
    ControlType,
    CorruptBatchError,
    InvalidRecordError,
    Record,
    TooLargeError,
    UnknownCompressionError,
    assign_offset,
    build_batch,
    build_control_batch,
    build_end_marker,
    read_batches,
    read_control_type,
    read_coordinator_epoch,
    set_max_timestamp,
)
from kafkish_protocol.records.compression import compress, decompress


def some_records(dice: random.Random, count: int) -> list[Record]:
    def data() -> bytes | None:
        return dice.choice((None, b"", dice.randbytes(dice.randrange(200)), b"text " * dice.randrange(50)))

    return [
        Record(
            offset,
            1_700_000_000_000 + dice.randrange(-1000, 1000),
            data(),
            data(),
            [("h\u00e9", data())] * (offset % 3),
        )
        for offset in range(count)
    ]


@pytest.mark.parametrize("codec", Compression, ids=lambda codec: codec.name)
def test_records_come_back_as_they_went_in(codec: Compression) -> None:
    dice = random.Random(codec)
    for count in (1, 2, 100, 3000):
        records = some_records(dice, count)
        batch = Batch(build_batch(records, compression=codec, leader_epoch=7))
        assert batch.crc_is_valid()
        assert (batch.count, batch.last_offset, batch.leader_epoch) == (count, count - 1, 7)
        assert batch.max_timestamp == max(record.timestamp for record in records)
        assert list(batch.records()) == records


@pytest.mark.parametrize("codec", Compression, ids=lambda codec: codec.name)
def test_large_record_crosses_many_chunks(codec: Compression) -> None:
    records = [Record(0, 0, b"k", random.Random(1).randbytes(3_000_000)), Record(1, 1, b"next", b"small")]
    assert list(Batch(build_batch(records, compression=codec)).records()) == records


@pytest.mark.parametrize("codec", [Compression.GZIP, Compression.ZSTD], ids=lambda codec: codec.name)
def test_frames_that_follow_one_another_are_one_stream(codec: Compression) -> None:
    packed = compress(codec, b"first ") + compress(codec, b"") + compress(codec, b"second")
    assert b"".join(decompress(codec, packed, 100)) == b"first second"


def test_snappy_is_read_with_and_without_framing() -> None:
    import cramjam

    data = b"some text " * 10_000
    framed = compress(Compression.SNAPPY, data)
    assert framed.startswith(b"\x82SNAPPY\0")
    bare = bytes(cramjam.snappy.compress_raw(data))
    assert b"".join(decompress(Compression.SNAPPY, framed, 200_000)) == data
    assert b"".join(decompress(Compression.SNAPPY, bare, 200_000)) == data


@pytest.mark.parametrize("codec", Compression, ids=lambda codec: codec.name)
def test_unpacking_stops_at_the_limit(codec: Compression) -> None:
    packed = compress(codec, bytes(1_000_000))
    assert sum(map(len, decompress(codec, packed, 1_000_000))) == 1_000_000
    with pytest.raises(TooLargeError):
        list(decompress(codec, packed, 999_999))


def test_header_says_what_the_batch_is() -> None:
    made = build_batch(
        [Record(10, 5), Record(12, 9)], last_offset=14, producer_id=77, producer_epoch=3, base_sequence=2**31 - 2,
        transactional=True, delete_horizon_ms=99,
    )  # fmt: skip
    header = BatchHeader(made)
    assert (header.base_offset, header.last_offset, header.next_offset, header.count) == (10, 14, 15, 2)
    assert (header.producer_id, header.producer_epoch, header.has_producer_id) == (77, 3, True)
    assert header.last_sequence == 2  # 2**31 - 2, 2**31 - 1, 0, 1, 2
    assert header.is_transactional
    assert not header.is_control
    assert header.delete_horizon_ms == 99
    assert [(r.offset, r.timestamp) for r in Batch(made).records()] == [(10, 5), (12, 9)]


def test_header_is_read_in_place() -> None:
    frame = b"before" + bytes(build_batch([Record(value=b"x")])) + b"after"
    batch = Batch(frame, 6)
    assert batch.view.obj is frame
    assert batch.view == frame[6:-5]


def test_offset_and_epoch_are_set_in_place_under_the_checksum() -> None:
    made = build_batch(some_records(random.Random(1), 5))
    before = Batch(bytes(made))
    assign_offset(made, 0, 1_000_000, 42)
    after = Batch(made)
    assert after.crc_is_valid()
    assert after.crc == before.crc
    assert (after.base_offset, after.last_offset, after.leader_epoch) == (1_000_000, 1_000_004, 42)
    assert [record.offset for record in after.records()] == list(range(1_000_000, 1_000_005))


def test_the_latest_time_can_be_mended() -> None:
    records = some_records(random.Random(1), 5)
    made = bytearray(b"..") + build_batch(records, log_append_time_ms=7)
    set_max_timestamp(made, 2, 123_456)
    batch = Batch(made, 2)
    assert batch.crc_is_valid()
    assert batch.max_timestamp == 123_456
    assert list(batch.records()) == records


def test_batches_follow_one_another() -> None:
    buffer = b"".join(build_batch([Record(n, n)]) for n in range(5))
    assert [batch.base_offset for batch in read_batches(buffer)] == [0, 1, 2, 3, 4]
    with pytest.raises(InvalidRecordError, match=r"batch\.length"):
        list(read_batches(buffer[:-1]))


def test_changed_byte_shows_in_the_checksum() -> None:
    made = build_batch(some_records(random.Random(1), 3))
    for position in range(21, len(made)):
        made[position] ^= 1
        assert not Batch(made).crc_is_valid()
        made[position] ^= 1


def test_markers_end_transactions() -> None:
    for commit, kind in ((True, ControlType.COMMIT), (False, ControlType.ABORT)):
        batch = Batch(
            build_end_marker(commit, producer_id=5, producer_epoch=2, coordinator_epoch=9, timestamp=1, offset=3)
        )
        assert (batch.is_control, batch.is_transactional, batch.producer_id) == (True, True, 5)
        assert read_control_type(next(batch.records())) == kind
        assert read_coordinator_epoch(batch) == 9


def test_control_batch_without_producer_is_not_transactional() -> None:
    batch = Batch(build_control_batch(ControlType.LEADER_CHANGE, b"value", timestamp=1))
    assert (batch.is_control, batch.is_transactional) == (True, False)
    assert read_control_type(next(batch.records())) == ControlType.LEADER_CHANGE


def test_legacy_formats_are_recognised_and_refused() -> None:
    for magic in (0, 1):
        legacy = struct.pack(">qiIbb", 0, 22, crc32c(b""), magic, 0) + bytes(16)
        with pytest.raises(InvalidRecordError, match=f"magic {magic} is the format of Kafka before 0.11"):
            Batch(legacy)


def test_what_is_wrong_decides_the_error() -> None:
    whole = build_batch([Record(value=b"x")])
    with pytest.raises(CorruptBatchError, match="magic 9"):
        Batch(whole[:16] + b"\x09" + whole[17:])
    with pytest.raises(CorruptBatchError, match="cannot have 30 bytes"):
        Batch(whole[:8] + struct.pack(">i", 18) + whole[12:])
    with pytest.raises(InvalidRecordError, match="60 left"):
        Batch(whole[: HEADER_BYTES - 1])
    with pytest.raises(UnknownCompressionError):
        list(Batch(whole[:22] + b"\x05" + whole[23:]).records())
