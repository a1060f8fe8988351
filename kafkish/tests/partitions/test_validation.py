"""What a producer may append, and the error it gets for what it may not."""

import struct
from collections.abc import Callable

import pytest
from crc32c import crc32c

from kafkish.partitions.validation import ProduceError, ProduceRules, as_packed, only_batch, validate
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.records import Batch, Compression, Record, build_batch, build_end_marker

NOW_MS = 1_700_000_000_000
RULES = ProduceRules()


def batch(*records: Record, **options: object) -> bytearray:
    return build_batch(records or [Record(0, NOW_MS, b"k", b"v")], **options)  # type: ignore[arg-type]


def changed(position: int, format: str, value: int) -> Callable[[], bytearray]:
    """A batch with one field changed and its checksum right again."""

    def make() -> bytearray:
        made = batch(producer_id=1, producer_epoch=0, base_sequence=0)
        struct.pack_into(format, made, position, value)
        struct.pack_into(">I", made, 17, crc32c(memoryview(made)[21:]))
        return made

    return make


def taken_by(rules: ProduceRules, records: bytes | bytearray | None, version: int = 9) -> Batch:
    batch = only_batch(None if records is None else memoryview(records), version)
    return validate(batch, rules, NOW_MS, "orders-0")


def refused(records: bytes | bytearray | None, rules: ProduceRules = RULES, version: int = 9) -> ProduceError:
    with pytest.raises(ProduceError) as error:
        taken_by(rules, records, version)
    return error.value


def test_good_batch_is_taken_as_it_is() -> None:
    made = batch(producer_id=1, producer_epoch=0, base_sequence=0)
    taken = taken_by(RULES, made)
    assert taken.view.obj is made


@pytest.mark.parametrize("codec", Compression, ids=lambda codec: codec.name)
def test_every_codec_is_taken(codec: Compression) -> None:
    assert taken_by(RULES, batch(compression=codec)).compression is codec


BAD: dict[str, tuple[Callable[[], bytes | bytearray | None], ErrorCode]] = {
    "null": (lambda: None, ErrorCode.INVALID_RECORD),
    "no batch": (lambda: b"", ErrorCode.INVALID_RECORD),
    "size beyond the bytes": (lambda: batch()[:-1], ErrorCode.INVALID_RECORD),
    "two batches": (lambda: batch() + batch(), ErrorCode.INVALID_RECORD),
    "magic 1": (changed(16, ">b", 1), ErrorCode.INVALID_RECORD),
    "magic 3": (changed(16, ">b", 3), ErrorCode.CORRUPT_MESSAGE),
    "size below any batch": (changed(8, ">i", 5), ErrorCode.CORRUPT_MESSAGE),
    "wrong checksum": (lambda: batch()[:-1] + b"!", ErrorCode.CORRUPT_MESSAGE),
    "offset set": (changed(0, ">q", 7), ErrorCode.INVALID_RECORD),
    "count 0": (changed(57, ">i", 0), ErrorCode.INVALID_RECORD),
    "count not that of the offsets": (changed(57, ">i", 2), ErrorCode.INVALID_RECORD),
    "negative offset delta": (changed(23, ">i", -1), ErrorCode.INVALID_RECORD),
    "control batch": (
        lambda: build_end_marker(True, producer_id=1, producer_epoch=0, coordinator_epoch=0, timestamp=NOW_MS),
        ErrorCode.INVALID_RECORD,
    ),
    "producer without sequence": (changed(53, ">i", -1), ErrorCode.INVALID_RECORD),
    "append time of the client in the future": (
        lambda: batch(log_append_time_ms=NOW_MS + 7_200_000),
        ErrorCode.INVALID_TIMESTAMP,
    ),
    "two hours ahead": (lambda: batch(Record(0, NOW_MS + 7_200_000)), ErrorCode.INVALID_TIMESTAMP),
    "compression 6": (changed(21, ">h", 6), ErrorCode.UNKNOWN_SERVER_ERROR),
    "larger than the topic allows": (
        lambda: batch(Record(0, NOW_MS, None, bytes(1_048_588))),
        ErrorCode.MESSAGE_TOO_LARGE,
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_batch_gets_its_error(case: str) -> None:
    make, code = BAD[case]
    assert refused(make()).code == code


def test_zstd_needs_version_7() -> None:
    made = batch(compression=Compression.ZSTD)
    assert refused(made, version=6).code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    taken_by(RULES, made, version=7)


@pytest.mark.parametrize("codec", Compression, ids=lambda codec: codec.name)
def test_compacted_topic_names_the_records_without_key(codec: Compression) -> None:
    records = [Record(n, NOW_MS, None if n in (1, 3) else b"k", b"v") for n in range(5)]
    error = refused(batch(*records, compression=codec), ProduceRules(compacted=True))
    assert error.code == ErrorCode.INVALID_RECORD
    assert [record.index for record in error.records] == [1, 3]


def test_bound_on_the_past_names_the_records_that_are_too_old() -> None:
    rules = ProduceRules(timestamp_before_max_ms=1000)
    records = [Record(0, NOW_MS), Record(1, NOW_MS - 1001), Record(2, NOW_MS - 1000), Record(3, -1)]
    error = refused(batch(*records), rules)
    assert error.code == ErrorCode.INVALID_TIMESTAMP
    assert [record.index for record in error.records] == [1]


HONEST = [Record(0, NOW_MS - 5, b"k"), Record(1, NOW_MS, b"k")]
LIES: dict[str, tuple[int, str, int]] = {
    "the latest before the first": (35, ">q", 5),
    "the first ahead of all": (27, ">q", NOW_MS + 7_200_000),
    "no first": (27, ">q", -1),
}


@pytest.mark.parametrize("codec", Compression, ids=lambda codec: codec.name)
@pytest.mark.parametrize("lie", LIES)
def test_the_records_are_asked_where_the_headers_times_cannot_be_true(lie: str, codec: Compression) -> None:
    position, format, value = LIES[lie]
    made = batch(*HONEST, compression=codec)
    struct.pack_into(format, made, position, value)
    struct.pack_into(">I", made, 17, crc32c(memoryview(made)[21:]))
    latest_ms = max(record.timestamp for record in Batch(made).records())
    if latest_ms > NOW_MS:
        error = refused(made)
        assert (error.code, [each.index for each in error.records]) == (ErrorCode.INVALID_TIMESTAMP, [0, 1])
    else:
        taken = taken_by(RULES, made)
        assert taken.max_timestamp == latest_ms
        assert taken.crc_is_valid()


def test_append_time_is_not_the_clients_to_set() -> None:
    made = batch(*HONEST, log_append_time_ms=NOW_MS)
    assert refused(made, ProduceRules(log_append_time=True)).code == ErrorCode.INVALID_TIMESTAMP
    taken = taken_by(RULES, made)
    assert [record.timestamp for record in taken.records()] == [NOW_MS - 5, NOW_MS]


def test_what_follows_the_batch_and_is_none_is_left_out() -> None:
    made = batch()
    assert taken_by(RULES, made + b"\0" * 11).view == made


@pytest.mark.parametrize("codec", Compression, ids=lambda codec: codec.name)
def test_topics_compression_replaces_the_producers(codec: Compression) -> None:
    records = [Record(n, NOW_MS + n, b"k%d" % n, b"v" * 50, [("h", None)]) for n in range(10)]
    made = batch(*records, compression=Compression.GZIP, producer_id=9, producer_epoch=1, base_sequence=4)
    taken = taken_by(ProduceRules(compression=codec), made)
    assert taken.compression is codec
    assert taken.crc_is_valid()
    assert (taken.producer_id, taken.producer_epoch, taken.base_sequence) == (9, 1, 4)
    assert list(taken.records()) == records
    assert (taken.view.obj is made) == (codec is Compression.GZIP)


def test_what_the_broker_writes_is_packed_as_the_topic_wants_but_for_markers() -> None:
    own = Batch(batch(Record(0, NOW_MS, b"group", b"x" * 200), Record(1, NOW_MS, b"group", None)))
    assert as_packed(own, RULES) is own
    packed = as_packed(own, ProduceRules(compression=Compression.SNAPPY))
    assert packed.compression is Compression.SNAPPY
    assert list(packed.records()) == list(own.records())
    marker = Batch(build_end_marker(True, producer_id=1, producer_epoch=0, coordinator_epoch=0, timestamp=NOW_MS))
    assert as_packed(marker, ProduceRules(compression=Compression.SNAPPY)) is marker


def test_records_are_not_unpacked_without_need() -> None:
    made = batch(compression=Compression.ZSTD)
    made[61:] = b"garbage"
    struct.pack_into(">i", made, 8, len(made) - 12)
    struct.pack_into(">I", made, 17, crc32c(memoryview(made)[21:]))
    assert isinstance(taken_by(RULES, made), Batch)
    assert refused(made, ProduceRules(compacted=True)).code == ErrorCode.INVALID_RECORD
