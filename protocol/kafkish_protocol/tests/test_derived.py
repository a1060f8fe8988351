"""What runs is what was defined: the derived codec and the construct agree, also on bytes that are wrong."""

import inspect
import random
from collections.abc import Callable
from typing import Any

import pytest

from kafkish_protocol.errors import CodecError
from kafkish_protocol.messages.create_topics import CreateTopicsRequest
from kafkish_protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafkish_protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkish_protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkish_protocol.schema import Message
from kafkish_protocol.tests.catalog import all_messages, all_versions
from kafkish_protocol.tests.samples import sample


def outcome(read: Callable[[], Any]) -> Any:
    """What reading gave, or that it was refused."""
    try:
        return read()
    except CodecError:
        return "refused"


@pytest.mark.parametrize("name", sorted(all_messages()))
def test_derived_codec_equals_the_construct(name: str) -> None:
    message = all_messages()[name]
    dice = random.Random(name)
    for version in message.schema.versions:
        for _ in range(5):
            value = sample(message, version, dice)
            data = value.encode(version)
            assert data == message.schema.build(value, version)
            assert message.decode(data, version) == message.schema.parse(data, version) == value


@pytest.mark.parametrize("name", sorted(all_messages()))
def test_derived_codec_equals_the_construct_on_damaged_bytes(name: str) -> None:
    message = all_messages()[name]
    dice = random.Random(f"damaged {name}")
    for version in message.schema.versions:
        for _ in range(8):
            data = damaged(sample(message, version, dice).encode(version), dice)
            derived = outcome(lambda: message.decode(data, version))  # noqa: B023
            assert derived == outcome(lambda: message.schema.parse(data, version)), (version, data.hex())  # noqa: B023


def damaged(data: bytes, dice: random.Random) -> bytes:
    """A byte changed, the end missing, or bytes put in."""
    changed = bytearray(data or b"\0")
    where = dice.randrange(len(changed))
    match dice.randrange(3):
        case 0:
            changed[where] = dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))
        case 1:
            del changed[where:]
        case 2:
            changed[where:where] = dice.randbytes(dice.randrange(1, 4))
    return bytes(changed)


def test_every_truncation_is_refused() -> None:
    dice = random.Random(1)
    for message, version in all_versions():
        data = sample(message, version, dice).encode(version)
        for length in range(min(len(data), 200)):
            with pytest.raises(CodecError):
                message.decode(data[:length], version)


def test_message_is_read_from_the_middle_of_a_frame_and_what_follows_is_left() -> None:
    request = FetchRequest(max_wait_ms=7, rack_id="r")
    data = request.encode(12)
    assert FetchRequest.schema.decoders[12](b"head" + data + b"tail", 4) == (request, 4 + len(data))


def test_frame_may_be_a_bytearray() -> None:
    dice = random.Random(2)
    for message, version in all_versions():
        value = sample(message, version, dice)
        assert message.decode(bytearray(value.encode(version)), version) == value


def test_records_are_a_view_of_the_frame_and_leave_uncopied() -> None:
    records = memoryview(b"r" * 1000)
    produce = ProduceRequest(
        topic_data=[TopicProduceData(partition_data=[PartitionProduceData(records=records)] * 2)] * 2
    )
    pieces = produce.encode_around_records(13)
    assert b"".join(pieces) == produce.encode(13)
    assert sum(piece is records for piece in pieces) == 4
    frame = produce.encode(13)
    decoded = ProduceRequest.decode(frame, 13).topic_data[0].partition_data[0].records
    assert isinstance(decoded, memoryview)
    assert decoded.obj is frame


# -- errors say where


def test_refusal_names_the_message_the_field_and_the_byte() -> None:
    partitions = [OffsetCommitRequestPartition(committed_metadata="m" * 10) for _ in range(2)]
    frame = OffsetCommitRequest(topics=[OffsetCommitRequestTopic(name="t", partitions=partitions)]).encode(9)
    with pytest.raises(CodecError) as refused:
        OffsetCommitRequest.decode(frame[:-5], 9)
    assert refused.value.message == "OffsetCommitRequest v9"
    assert refused.value.path == "topics[0].partitions[1].committed_metadata"
    assert refused.value.offset == len(frame) - 13
    assert str(refused.value) == (
        f"OffsetCommitRequest v9 topics[0].partitions[1].committed_metadata at byte {len(frame) - 13}: "
        "needs 10 bytes, 8 left"
    )


def test_refusal_finds_the_field_among_those_that_are_read_together() -> None:
    with pytest.raises(CodecError, match="FetchRequest v12 max_bytes at byte 12: the bytes end here, after 14"):
        FetchRequest.decode(FetchRequest().encode(12)[:14], 12)


def test_value_that_does_not_fit_is_named() -> None:
    wrong = FetchRequest(topics=[FetchTopic(), FetchTopic(topic="t", partitions=[FetchPartition(fetch_offset=2**63)])])
    with pytest.raises(CodecError, match=r"FetchRequest v12 topics\[1\]\.partitions\[0\]\.fetch_offset"):
        wrong.encode(12)
    with pytest.raises(CodecError, match=r"topics\[0\]\.topic .*32768 bytes"):
        FetchRequest(topics=[FetchTopic(topic="x" * 32_768)]).encode(12)
    with pytest.raises(CodecError, match="NoneType"):
        FetchRequest(rack_id=None).encode(12)  # type: ignore[arg-type]
    with pytest.raises(CodecError, match="UUID has 16 bytes"):
        FetchRequest(topics=[FetchTopic(topic_id=b"short")]).encode(13)  # type: ignore[arg-type]


def test_field_that_the_version_lacks_is_refused_unless_ignorable() -> None:
    FetchRequest(rack_id="ignored").encode(4)
    with pytest.raises(CodecError, match=r"FetchRequest v15 replica_id.*version 15 has no such field"):
        FetchRequest(replica_id=1).encode(15)


def test_version_that_kafka_does_not_have_is_refused() -> None:
    with pytest.raises(CodecError, match=r"FetchRequest: version 19 is not one of 4-18"):
        FetchRequest().encode(19)
    with pytest.raises(CodecError, match=r"CreateTopicsRequest: version 1 is not one of 2-7"):
        CreateTopicsRequest.decode(b"", 1)


def test_no_field_hides_what_every_message_has() -> None:
    taken = {name for name in dir(Message) if not name.startswith("__")}
    for message in all_messages().values():
        assert taken.isdisjoint(field.name for field in message.schema.fields)


def test_derived_source_can_be_read() -> None:
    assert inspect.getsource(FetchRequest.schema.decoders[12]).startswith("def decode(buf, p=0")
    assert "pack_" in inspect.getsource(FetchRequest.schema.encoders[12])
