"""A partition on real files: what is appended, seen, waited for, made durable, deleted."""

from pathlib import Path

import pytest

from kafkish.deferred import Deferred
from kafkish.partitions.errors import PartitionError
from kafkish.partitions.waiting_fetch import Position, wait_for_bytes
from kafkish.tests.partitions.world import NOW_MS, World, batch_of
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.records import Batch, read_batches
from kafkish_protocol.stored.metadata_settings import ConfigRecord
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord

ALL = -1


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def values(world: World, topic: str = "orders", offset: int = 0) -> list[bytes | None]:
    found = world.partition(topic).read(offset, 1 << 20).records
    if found is None:
        return []
    return [record.value for batch in read_batches(found.read()) for record in batch.records()]


def is_done(deferred: Deferred[None]) -> bool:
    return deferred.is_done


def test_what_is_produced_is_read_with_the_offsets_that_it_got(world: World) -> None:
    world.create_topic("orders")
    partition = world.partition("orders")
    first = partition.produce(Batch(batch_of(b"a", b"b")), ALL, NOW_MS)
    second = partition.produce(Batch(batch_of(b"c")), ALL, NOW_MS)
    assert [(first.first_offset, first.last_offset), (second.first_offset, second.last_offset)] == [(0, 1), (2, 2)]
    assert values(world) == [b"a", b"b", b"c"]
    assert values(world, offset=2) == [b"c"]


def test_a_leader_alone_acknowledges_at_once(world: World) -> None:
    world.create_topic("orders")
    partition = world.partition("orders")
    appended = partition.produce(Batch(batch_of(b"a")), ALL, NOW_MS)
    assert partition.is_acknowledged(appended.last_offset, ALL)


def test_with_flush_messages_1_nothing_is_acknowledged_or_seen_before_it_is_on_disk(world: World) -> None:
    world.create_topic("orders", flush_messages="1")
    partition = world.partition("orders")
    world.workers.is_eager = False
    appended = partition.produce(Batch(batch_of(b"a")), 1, NOW_MS)
    assert not partition.is_acknowledged(appended.last_offset, 1)
    acknowledged = partition.replicated(appended.last_offset)
    assert not is_done(acknowledged)
    assert values(world) == []
    world.workers.finish()
    assert is_done(acknowledged)
    assert partition.log.recovery_point == 1
    assert values(world) == [b"a"]


def test_appends_during_a_sync_share_the_next_one(world: World) -> None:
    world.create_topic("orders", flush_messages="1")
    partition = world.partition("orders")
    world.workers.is_eager = False
    waiting = []
    for _ in range(5):
        appended = partition.produce(Batch(batch_of(b"a")), ALL, NOW_MS)
        waiting.append(partition.replicated(appended.last_offset))
    world.workers.finish()
    assert [each.is_done for each in waiting] == [True] * 5
    assert partition.log.recovery_point == 5


def test_a_failed_sync_is_told_to_everyone_who_waits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.create_topic("orders", flush_messages="1")
    partition = world.partition("orders")
    world.workers.is_eager = False
    appended = partition.produce(Batch(batch_of(b"a")), ALL, NOW_MS)
    acknowledged = partition.replicated(appended.last_offset)

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.fdatasync", fail)
    monkeypatch.setattr("os.fsync", fail)
    world.workers.finish()
    with pytest.raises(PartitionError) as raised:
        acknowledged.result()
    assert raised.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    with pytest.raises(PartitionError) as raised:
        partition.produce(Batch(batch_of(b"b")), ALL, NOW_MS)
    assert raised.value.code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_waiting_fetch_ends_with_enough_bytes_and_only_once(world: World) -> None:
    world.create_topic("orders")
    partition = world.partition("orders")
    enough = wait_for_bytes(
        [Position(partition, 0, 1 << 20)], 100, committed=False, max_wait_ms=500, timers=world.timers
    )
    partition.produce(Batch(batch_of(b"small")), ALL, NOW_MS)
    assert not is_done(enough)
    partition.produce(Batch(batch_of(b"x" * 100)), ALL, NOW_MS)
    assert is_done(enough)
    partition.produce(Batch(batch_of(b"more")), ALL, NOW_MS)
    world.timers.pass_ms(1000)
    assert partition.watcher_count == 0


def test_a_waiting_fetch_ends_at_its_deadline(world: World) -> None:
    world.create_topic("orders")
    partition = world.partition("orders")
    enough = wait_for_bytes([Position(partition, 0, 1 << 20)], 1, committed=False, max_wait_ms=500, timers=world.timers)
    world.timers.pass_ms(499)
    assert not is_done(enough)
    world.timers.pass_ms(1)
    assert is_done(enough)
    assert partition.watcher_count == 0


def test_a_fetch_that_nobody_waits_for_any_more_leaves_nothing_behind(world: World) -> None:
    world.create_topic("orders")
    partition = world.partition("orders")
    enough = wait_for_bytes([Position(partition, 0, 1 << 20)], 1, committed=False, max_wait_ms=500, timers=world.timers)
    enough.abandon()
    assert partition.watcher_count == 0
    assert all(timer.is_cancelled for timer in world.timers.timers)


def test_deleting_a_topic_wakes_its_readers_and_frees_its_name(world: World) -> None:
    topic_id = world.create_topic("orders")
    partition = world.partition("orders")
    partition.produce(Batch(batch_of(b"old")), ALL, NOW_MS)
    enough = wait_for_bytes([Position(partition, 1, 1 << 20)], 1, committed=False, max_wait_ms=500, timers=world.timers)
    world.delete_topic(topic_id)
    assert is_done(enough)
    assert world.table.by_name("orders", 0) is None
    world.create_topic("orders")
    assert values(world) == []


def test_a_change_of_a_topics_configs_holds_for_the_next_record(world: World) -> None:
    world.create_topic("orders")
    partition = world.partition("orders")
    world.commit(ConfigRecord(resource_type=2, resource_name="orders", name="max.message.bytes", value="100"))
    with pytest.raises(Exception, match="exceeds the maximum 100"):
        partition.produce(Batch(batch_of(b"x" * 200)), ALL, NOW_MS)


def test_a_change_of_all_brokers_configs_reaches_every_topic(world: World) -> None:
    world.create_topic("orders")
    world.commit(ConfigRecord(resource_type=4, resource_name="", name="log.retention.ms", value="1234"))
    assert world.partition("orders").log.config.retention_ms == 1234


def test_clients_with_another_leader_epoch_are_told(world: World) -> None:
    topic_id = world.create_topic("orders")
    partition = world.partition("orders")
    world.commit(PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=1))
    assert partition.role.leader_epoch == 1
    partition.require_leader(1)
    with pytest.raises(PartitionError, match="FENCED_LEADER_EPOCH"):
        partition.require_leader(0)
    with pytest.raises(PartitionError, match="UNKNOWN_LEADER_EPOCH"):
        partition.require_leader(2)


def test_a_node_that_loses_its_leadership_refuses_producers_and_disappoints_those_who_wait(world: World) -> None:
    topic_id = world.create_topic("orders", flush_messages="1")
    partition = world.partition("orders")
    world.workers.is_eager = False
    waiting = partition.replicated(partition.produce(Batch(batch_of(b"a")), ALL, NOW_MS).last_offset)
    world.commit(PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2))
    with pytest.raises(PartitionError, match="NOT_LEADER_OR_FOLLOWER"):
        waiting.result()
    with pytest.raises(PartitionError, match="NOT_LEADER_OR_FOLLOWER"):
        partition.produce(Batch(batch_of(b"b")), ALL, NOW_MS)


def test_too_few_replicas_in_sync_refuse_acks_all_and_nothing_else(world: World) -> None:
    world.create_topic("orders", min_insync_replicas="2")
    partition = world.partition("orders")
    partition.become(partition.role._replace(replica_count=3))
    with pytest.raises(PartitionError, match="insufficient"):
        partition.produce(Batch(batch_of(b"a")), ALL, NOW_MS)
    assert partition.produce(Batch(batch_of(b"a")), 1, NOW_MS).first_offset == 0


def test_all_replicas_are_enough_where_there_are_fewer_than_min_insync_replicas(world: World) -> None:
    world.create_topic("orders", min_insync_replicas="2")
    assert world.partition("orders").produce(Batch(batch_of(b"a")), ALL, NOW_MS).first_offset == 0


def test_after_a_restart_the_partition_goes_on_where_it_was(world: World, tmp_path: Path) -> None:
    topic_id = world.create_topic("orders")
    world.partition("orders").produce(Batch(batch_of(b"a")), ALL, NOW_MS)
    world.logs.close()
    again = World(tmp_path)
    assert again.create_topic("orders") == topic_id
    assert again.partition("orders").produce(Batch(batch_of(b"b")), ALL, NOW_MS).first_offset == 1
    assert values(again) == [b"a", b"b"]


def test_a_log_of_an_older_topic_of_the_same_name_is_set_aside(world: World, tmp_path: Path) -> None:
    world.create_topic("orders")
    world.partition("orders").produce(Batch(batch_of(b"a")), ALL, NOW_MS)
    world.logs.close()
    again = World(tmp_path)
    again.create_topic("another")  # takes the id that orders had
    again.create_topic("orders")
    assert values(again) == []
    assert any(path.name.endswith("-stray") for path in tmp_path.iterdir())
