"""Leader epochs: real, monotonic, and checked."""

from collections.abc import Callable
from typing import Any

import batches
import control
import pytest
from brokers import Broker
from kafka.protocol.consumer import OffsetForLeaderEpochRequest
from wire import Wire

FENCED, UNKNOWN = 74, 75


def epoch_end(wire: Wire, topic: str, epoch: int, current: int = -1, version: int = 4) -> Any:
    entry = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
    part = entry.OffsetForLeaderPartition(partition=0, current_leader_epoch=current, leader_epoch=epoch)
    request = OffsetForLeaderEpochRequest(replica_id=-2, topics=[entry(topic=topic, partitions=[part])])
    return wire.send(request, version).topics[0].partitions[0]


def leader_epoch(wire: Wire, topic: str) -> int:
    epoch: int = control.metadata(wire, topic).partitions[0].leader_epoch
    return epoch


@pytest.mark.parametrize("version", [2, 3, 4])
def test_end_of_an_epoch_is_told(wire: Wire, topic: str, version: int) -> None:
    control.produce(wire, topic, batches.values(b"0", b"1"))
    epoch = leader_epoch(wire, topic)
    now = epoch_end(wire, topic, epoch, epoch, version)
    assert (now.error_code, now.leader_epoch, now.end_offset) == (0, epoch, 2)
    future = epoch_end(wire, topic, epoch + 5, version=version)
    assert (future.error_code, future.leader_epoch, future.end_offset) == (0, -1, -1)
    assert epoch_end(wire, topic, epoch, epoch + 1, version).error_code == UNKNOWN


def test_epoch_that_the_leader_does_not_know_is_refused(wire: Wire, topic: str) -> None:
    control.produce(wire, topic, batches.values(b"0"))
    epoch = leader_epoch(wire, topic)
    assert control.fetch(wire, topic, 0, leader_epoch=epoch).error_code == 0
    assert control.fetch(wire, topic, 0, leader_epoch=epoch + 1).error_code == UNKNOWN
    assert control.list_offset(wire, topic, -1, leader_epoch=epoch + 1).error_code == UNKNOWN


@pytest.mark.owned
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_epochs_never_go_back_across_a_restart(broker: Broker, topic: str, how: str) -> None:
    with Wire(broker.address) as wire:
        control.produce(wire, topic, batches.values(b"0", b"1"))
        before = leader_epoch(wire, topic)
    (broker.stop if how == "stop" else broker.kill)()
    broker.start()
    with Wire(broker.address) as wire:
        control.wait_for_partitions(wire, topic, 1)
        after = leader_epoch(wire, topic)
        assert after >= before
        control.produce(wire, topic, batches.values(b"2"))
        old = epoch_end(wire, topic, before)
        assert (old.leader_epoch, old.end_offset) == (before, 3 if after == before else 2)
        if after > before:
            assert control.fetch(wire, topic, 0, leader_epoch=before).error_code == FENCED
        epochs = [batch.leader_epoch for batch in batches.read(control.fetch(wire, topic, 0).records)]
        assert epochs == [before, after]


def test_topic_made_again_has_another_id(wire: Wire, fresh: Callable[[str], str]) -> None:
    topic = fresh("topic")
    control.create_topic(wire, topic)
    control.produce(wire, topic, batches.values(b"old"))
    old = control.topic_id(wire, topic)
    control.delete_topic(wire, topic)
    control.create_topic(wire, topic)
    assert control.topic_id(wire, topic) != old
    assert control.produce(wire, topic, batches.values(b"new")) == 0
    request = control.fetch_request(topic, 0)
    request.topics[0].topic_id = old
    answer = wire.send(request, 13)
    codes = [part.error_code for entry in answer.responses for part in entry.partitions]
    assert codes == [100]
