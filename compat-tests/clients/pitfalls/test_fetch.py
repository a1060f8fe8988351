"""Fetch: what other brokers got wrong about waiting, limits and offsets inside a batch."""

import os
import time
from collections.abc import Callable

import batches
import control
import pytest
from brokers import Broker
from clients.families.base import Family
from kafka.protocol.consumer import FetchRequest
from wire import Wire

LONG_MS = 25_000  # longer than any test would wait in vain
SOON_S = 10.0


def fetch_of_all(topic: str, partitions: int, *, max_wait_ms: int = 500, max_bytes: int = 50_000_000) -> FetchRequest:
    """A fetch of every partition from its start."""
    request = control.fetch_request(
        topic, 0, max_wait_ms=max_wait_ms, max_bytes=max_bytes, partition_max_bytes=max_bytes
    )
    entry = request.topics[0].partitions
    for number in range(1, partitions):
        entry += control.fetch_request(topic, 0, number, partition_max_bytes=max_bytes).topics[0].partitions
    return request


def test_long_poll_at_the_end_waits_as_long_as_it_was_told(wire: Wire, topic: str) -> None:
    for wait_ms in (0, 100, 500):
        started = time.monotonic()
        answer = control.fetch(wire, topic, 0, max_wait_ms=wait_ms)
        elapsed_s = time.monotonic() - started
        assert (answer.error_code, answer.high_watermark, answer.records or b"") == (0, 0, b"")
        assert wait_ms / 1000 - 0.01 < elapsed_s < wait_ms / 1000 + SOON_S


def test_long_poll_is_woken_by_an_append(broker: Broker, wire: Wire, topic: str) -> None:
    started = time.monotonic()
    request = wire.post(control.fetch_request(topic, 0, max_wait_ms=LONG_MS), 12)
    with Wire(broker.address) as other:
        control.produce(other, topic, batches.values(b"wake up"))
    records = wire.receive(request).responses[0].partitions[0].records
    assert [batches.span(batch) for batch in batches.read(records)] == [(0, 0)]
    assert time.monotonic() - started < SOON_S


def test_long_poll_waits_for_min_bytes(broker: Broker, wire: Wire, topic: str) -> None:
    batch = batches.values(b"x" * 100)
    settings = {"max_wait_ms": LONG_MS, "min_bytes": 3 * len(batch)}
    request = wire.post(control.fetch_request(topic, 0, **settings), 12)
    with Wire(broker.address) as other:
        for _ in range(3):
            control.produce(other, topic, batch)
    assert len(wire.receive(request).responses[0].partitions[0].records) == 3 * len(batch)


def test_one_partition_with_data_answers_for_many(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(20)
    control.produce(wire, topic, batches.values(b"here"), 13)
    started = time.monotonic()
    answer = wire.send(fetch_of_all(topic, 20, max_wait_ms=LONG_MS), 12)
    filled = {part.partition_index for part in answer.responses[0].partitions if part.records}
    assert filled == {13}
    assert time.monotonic() - started < SOON_S


def test_offset_inside_a_batch_gets_the_whole_batch(wire: Wire, topic: str) -> None:
    for _ in range(2):
        control.produce(wire, topic, batches.values(b"a", b"b"))
    expected = {0: [(0, 1), (2, 3)], 1: [(0, 1), (2, 3)], 2: [(2, 3)], 3: [(2, 3)]}
    for offset, spans in expected.items():
        records = control.fetch(wire, topic, offset).records
        assert [batches.span(batch) for batch in batches.read(records)] == spans


def test_every_client_reads_on_from_inside_a_batch(wire: Wire, family: Family, topic: str) -> None:
    control.produce(wire, topic, batches.values(b"0", b"1"))
    control.produce(wire, topic, batches.values(b"2", b"3"))
    assert [record.offset for record in family.read(topic, 3, offset=1)] == [1, 2, 3]
    assert [record.offset for record in family.read(topic, 1, offset=3)] == [3]


def test_first_batch_is_whole_however_small_the_limit(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    batch = batches.values(os.urandom(1_000_000))
    for partition in (0, 1):
        control.produce(wire, topic, batch, partition)
        control.produce(wire, topic, batch, partition)
    alone = control.fetch(wire, topic, 0, partition_max_bytes=1)
    assert len(alone.records) == len(batch)
    answer = wire.send(fetch_of_all(topic, 2, max_bytes=1), 12)
    sizes = sorted(len(part.records or b"") for part in answer.responses[0].partitions)
    assert sizes == [0, len(batch)], "one batch for the whole response, not one for each partition"


@pytest.mark.parametrize("codec", list(batches.CODECS))
def test_no_offset_is_hidden(wire: Wire, topic: str, codec: str) -> None:
    for number in range(4):
        assert control.produce(wire, topic, batches.values(b"a", b"b", b"c", codec=codec)) == 3 * number
    assert control.end_offset(wire, topic) - control.start_offset(wire, topic) == 12


@pytest.mark.parametrize("version", range(4, 13))
def test_fetch_of_every_version_by_name_has_its_own_fields(wire: Wire, topic: str, version: int) -> None:
    batch = batches.values(b"value")
    control.produce(wire, topic, batch)
    answer = control.fetch(wire, topic, 0, version=version)
    (stored,) = batches.read(answer.records)
    assert (answer.error_code, answer.high_watermark, answer.last_stable_offset) == (0, 1, 1)
    assert (stored.base_offset, stored.leader_epoch >= 0) == (0, True)
    assert not answer.aborted_transactions
    if version >= 5:
        assert answer.log_start_offset == 0
    if version >= 11:
        assert answer.preferred_read_replica == -1


@pytest.mark.parametrize("offset", [-5, 3])
def test_offset_out_of_range_tells_no_offsets(wire: Wire, topic: str, offset: int) -> None:
    control.produce(wire, topic, batches.values(b"0", b"1"))
    answer = control.fetch(wire, topic, offset)
    assert (answer.error_code, answer.high_watermark, answer.log_start_offset) == (1, -1, -1)
