"""Produce: idempotence as Kafka's clients count on it, and records that must be refused."""

from collections.abc import Callable

import batches
import control
import pytest
from batches import Producer, Record
from brokers import Broker
from kafka.protocol.producer import InitProducerIdRequest
from waiting import now_ms
from wire import Wire

OUT_OF_ORDER, OLD_EPOCH = 45, 47
CORRUPT, TOO_LARGE, INVALID_RECORD, INVALID_TIMESTAMP = 2, 10, 87, 32
LAST_SEQUENCE = 2**31 - 1


def numbered(producer: Producer, sequence: int, count: int = 2) -> bytearray:
    return batches.values(*(b"%d" % sequence,) * count, producer=producer, sequence=sequence)


def send(wire: Wire, topic: str, batch: bytearray) -> tuple[int, int]:
    """Error and base offset."""
    answer = control.produce_response(wire, topic, batch)
    return answer.error_code, answer.base_offset


@pytest.fixture
def producer(wire: Wire) -> Producer:
    given = control.init_producer(wire)
    return Producer(given.producer_id, given.producer_epoch)


def test_retry_of_the_last_five_batches_is_answered_with_their_offsets(
    wire: Wire, topic: str, producer: Producer
) -> None:
    sent = [numbered(producer, sequence) for sequence in range(0, 12, 2)]
    for number, batch in enumerate(sent):
        assert send(wire, topic, batch) == (0, 2 * number)
    for number in (5, 1, 3, 2, 4):
        assert send(wire, topic, sent[number]) == (0, 2 * number)
    assert send(wire, topic, sent[0])[0] == OUT_OF_ORDER
    assert control.end_offset(wire, topic) == 12


def test_sequence_out_of_line_is_refused(wire: Wire, topic: str, producer: Producer) -> None:
    control.produce(wire, topic, numbered(producer, 0))
    assert send(wire, topic, numbered(producer, 3))[0] == OUT_OF_ORDER
    assert send(wire, topic, numbered(producer, 1))[0] == OUT_OF_ORDER
    assert send(wire, topic, numbered(producer, 2)) == (0, 2)


def test_unknown_producer_may_start_at_any_sequence(wire: Wire, topic: str, producer: Producer) -> None:
    assert send(wire, topic, numbered(producer, 7)) == (0, 0)
    assert send(wire, topic, numbered(producer, 9)) == (0, 2)


def test_new_epoch_starts_at_zero_and_ends_the_old_one(wire: Wire, topic: str, producer: Producer) -> None:
    newer = Producer(producer.id, producer.epoch + 1)
    control.produce(wire, topic, numbered(producer, 0))
    assert send(wire, topic, numbered(newer, 2))[0] == OUT_OF_ORDER
    assert send(wire, topic, numbered(newer, 0)) == (0, 2)
    assert send(wire, topic, numbered(producer, 2))[0] == OLD_EPOCH


def test_sequence_wraps_to_zero(wire: Wire, topic: str, producer: Producer) -> None:
    assert send(wire, topic, numbered(producer, LAST_SEQUENCE - 1)) == (0, 0)
    assert send(wire, topic, numbered(producer, 0)) == (0, 2)
    assert send(wire, topic, numbered(producer, 2)) == (0, 4)


def test_sequence_wraps_inside_a_batch(wire: Wire, topic: str, producer: Producer) -> None:
    assert send(wire, topic, numbered(producer, LAST_SEQUENCE, count=3)) == (0, 0)
    assert send(wire, topic, numbered(producer, 2)) == (0, 3)


@pytest.mark.owned
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_sequences_are_known_after_a_restart(broker: Broker, topic: str, producer: Producer, how: str) -> None:
    """Of the present: a producer whose last record is older than a day is forgotten by a restart."""

    def timed(sequence: int, *, epoch: int = 0) -> bytearray:
        records = [Record(b"%d" % number, timestamp_ms=now_ms()) for number in (sequence, sequence + 1)]
        return batches.build(records, producer=Producer(producer.id, producer.epoch + epoch), sequence=sequence)

    sent = [timed(sequence) for sequence in (0, 2, 4)]
    with Wire(broker.address) as wire:
        for batch in sent:
            control.produce(wire, topic, batch)
    (broker.stop if how == "stop" else broker.kill)()
    broker.start()
    with Wire(broker.address) as wire:
        control.wait_for_partitions(wire, topic, 1)
        assert send(wire, topic, sent[-1]) == (0, 4), "a retry"
        assert send(wire, topic, timed(8))[0] == OUT_OF_ORDER
        assert send(wire, topic, timed(6, epoch=1))[0] == OUT_OF_ORDER
        assert send(wire, topic, timed(6)) == (0, 6)
        assert control.end_offset(wire, topic) == 8


@pytest.mark.owned
def test_write_cut_by_a_kill_is_retried_without_loss_or_double(broker: Broker, topic: str, producer: Producer) -> None:
    sent = [numbered(producer, sequence) for sequence in range(0, 16, 2)]
    with Wire(broker.address) as wire:
        for batch in sent[:3]:
            control.produce(wire, topic, batch)
    with Wire(broker.address) as wire:  # five in flight, as a client has at most
        for batch in sent[3:]:
            wire.socket.sendall(frame_of(topic, batch))
        broker.kill()
    broker.start()
    with Wire(broker.address) as wire:
        control.wait_for_partitions(wire, topic, 1)
        for number, batch in enumerate(sent[3:], start=3):
            assert send(wire, topic, batch) == (0, 2 * number)
        stored = batches.read(control.fetch(wire, topic, 0).records)
    assert [batches.span(batch) for batch in stored] == [(first, first + 1) for first in range(0, 16, 2)]


def frame_of(topic: str, batch: bytearray) -> bytes:
    request = control.produce_request(topic, batch)
    request.API_VERSION = 11
    request.with_header(correlation_id=1, client_id="compat-tests")
    frame: bytes = request.encode(header=True, framed=True)
    return frame


# -- what must be refused


def test_batch_above_the_topics_limit_is_refused(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"max.message.bytes": "1000"})
    assert send(wire, topic, batches.values(b"x" * 2000)) == (TOO_LARGE, -1)
    assert send(wire, topic, batches.values(b"x" * 500)) == (0, 0)


def test_record_without_a_key_is_refused_by_a_compacted_topic(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"cleanup.policy": "compact"})
    answer = control.produce_response(wire, topic, batches.build([Record(), Record(key=None), Record()]))
    assert answer.error_code == INVALID_RECORD
    assert [error.batch_index for error in answer.record_errors] == [1]
    assert answer.error_message
    assert control.end_offset(wire, topic) == 0


def test_bad_checksum_is_refused(wire: Wire, topic: str) -> None:
    batch = batches.values(b"value")
    batch[-1] ^= 1
    assert send(wire, topic, batch) == (CORRUPT, -1)


@pytest.mark.parametrize("magic", [0, 1])
def test_old_record_format_is_refused(wire: Wire, topic: str, magic: int) -> None:
    batch = batches.values(b"value" * 20)
    batch[batches.MAGIC_AT] = magic
    assert send(wire, topic, batch) == (INVALID_RECORD, -1)


def test_count_that_does_not_fit_is_refused(wire: Wire, topic: str) -> None:
    batch = batches.changed(batches.values(b"0", b"1"), batches.COUNT_AT, (3).to_bytes(4, "big"))
    assert send(wire, topic, batch)[0] == INVALID_RECORD


def test_timestamp_too_far_from_now_is_refused(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"message.timestamp.before.max.ms": "1000"})
    answer = control.produce_response(wire, topic, batches.values(b"old"))
    assert answer.error_code == INVALID_TIMESTAMP
    assert [error.batch_index for error in answer.record_errors] == [0]


@pytest.mark.parametrize("timeout_ms", [900_001, 0])
def test_transaction_timeout_that_cannot_be_is_refused(
    wire: Wire, fresh: Callable[[str], str], timeout_ms: int
) -> None:
    request = InitProducerIdRequest(transactional_id=fresh("id"), transaction_timeout_ms=timeout_ms)
    assert wire.send(request, 4).error_code == 50


def test_acks_that_do_not_exist_are_refused(wire: Wire, topic: str) -> None:
    answer = control.produce_response(wire, topic, batches.values(b"value"), acks=7)
    assert (answer.error_code, answer.base_offset) == (21, -1)


def test_every_partition_of_a_request_is_answered_once(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(3)
    request = control.produce_request(topic, batches.values(b"value"))
    for number in (2, 9):
        request.topic_data[0].partition_data += (
            control.produce_request(topic, batches.values(b"value"), number).topic_data[0].partition_data
        )
    (answer,) = wire.send(request, 11).responses
    assert {part.index: part.error_code for part in answer.partition_responses} == {0: 0, 2: 0, 9: 3}
    assert len(answer.partition_responses) == 3
