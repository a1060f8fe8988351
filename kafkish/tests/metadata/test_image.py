"""The image: what records make of it, what a change tells, and that nothing in it ever changes."""

from copy import deepcopy

import pytest

from kafkish.metadata.changes import Update, difference, local_replicas
from kafkish.metadata.delta import MetadataDelta, ReplayError
from kafkish.metadata.directories import LOST, MIGRATING, UNASSIGNED, is_online, is_reserved
from kafkish.metadata.image import EMPTY, ConfigResource, MetadataImage, Provenance, ResourceType
from kafkish.metadata.loader import MetadataLoader
from kafkish.metadata.records import decode_record, encode_record, record_version
from kafkish.metadata.snapshot import snapshot_records
from kafkish.tests.metadata.stories import Story, draw_batch, first_records
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_nodes import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from kafkish_protocol.stored.metadata_settings import ConfigRecord, FeatureLevelRecord, ProducerIdsRecord
from kafkish_protocol.stored.metadata_topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkish_protocol.stored.metadata_transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
)
from kafkish_protocol.types import Uuid

TOPIC, OTHER = Uuid(b"t" * 16), Uuid(b"o" * 16)
SEEDS = range(30)


def replayed(image: MetadataImage, *records: MetadataRecord) -> Update:
    delta = MetadataDelta(image)
    for record in records:
        delta.replay(record)
    return delta.apply(Provenance(image.provenance.offset + len(records), 1, 1))


def a_topic(*extra: MetadataRecord) -> MetadataImage:
    partition = PartitionRecord(
        partition_id=0, topic_id=TOPIC, replicas=[1, 2, 3], isr=[1, 2], leader=1, leader_epoch=0, partition_epoch=0
    )
    return replayed(EMPTY, *first_records(), TopicRecord(name="t", topic_id=TOPIC), partition, *extra).after


@pytest.mark.parametrize("seed", SEEDS)
def test_an_old_image_never_changes_and_changes_tell_the_whole_difference(seed: int) -> None:
    story, image = Story(seed), replayed(EMPTY, *first_records()).after
    for _ in range(40):
        before = deepcopy(image)
        update = replayed(image, *draw_batch(story, image, story.dice.randint(1, 8)))
        assert image == before, f"seed {seed}"
        assert update.before is image
        assert update.changes == difference(image, update.after), f"seed {seed}"
        image = update.after


@pytest.mark.parametrize("seed", SEEDS)
def test_a_replayed_snapshot_gives_an_equal_image(seed: int) -> None:
    story, image = Story(seed), replayed(EMPTY, *first_records()).after
    for _ in range(40):
        image = replayed(image, *draw_batch(story, image, 5)).after
        stored = [encode_record(r, record_version(r, image.metadata_version)) for r in snapshot_records(image)]
        again = MetadataLoader().load_snapshot([decode_record(data)[0] for data in stored], image.provenance)
        assert again.after == image, f"seed {seed}"


def test_what_did_not_change_is_shared() -> None:
    image = a_topic(TopicRecord(name="o", topic_id=OTHER))
    after = replayed(image, PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=2)).after
    assert after.topics.by_id[OTHER] is image.topics.by_id[OTHER]
    assert after.topics.by_name["t"] is after.topics.by_id[TOPIC] is not image.topics.by_id[TOPIC]
    assert after.brokers is image.brokers
    assert after.configs is image.configs
    assert replayed(image, NoOpRecord()).after.topics is image.topics


def test_naming_a_leader_is_a_new_leader_epoch_and_every_change_a_new_partition_epoch() -> None:
    change = PartitionChangeRecord(partition_id=0, topic_id=TOPIC)
    image = a_topic()
    image = replayed(image, PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=[1])).after
    image = replayed(image, PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=1)).after
    partition = replayed(image, change).after.topics.by_id[TOPIC].partitions[0]
    assert (partition.isr, partition.leader, partition.leader_epoch, partition.partition_epoch) == ((1,), 1, 1, 3)


def test_a_removed_topic_takes_its_configs_along_and_comes_back_without() -> None:
    config = ConfigRecord(resource_type=ResourceType.TOPIC, resource_name="t", name="retention.ms", value="1")
    image = a_topic(config)
    update = replayed(image, RemoveTopicRecord(topic_id=TOPIC), TopicRecord(name="t", topic_id=OTHER))
    assert update.changes.deleted_topics == {TOPIC}
    assert update.changes.created_topics == {OTHER}
    assert update.changes.configs == {ConfigResource(ResourceType.TOPIC, "t")}
    assert update.after.config(ResourceType.TOPIC, "t") == {}
    assert update.after.topics.by_name["t"].id == OTHER


def test_a_topic_that_came_and_went_in_one_delta_is_no_change() -> None:
    update = replayed(a_topic(), TopicRecord(name="o", topic_id=OTHER), RemoveTopicRecord(topic_id=OTHER))
    assert not update.changes


def test_clearing_the_elr_reaches_topics_of_the_same_delta() -> None:
    partition = PartitionRecord(
        partition_id=0, topic_id=OTHER, replicas=[1, 2], isr=[1], leader=1, eligible_leader_replicas=[2]
    )
    new = [TopicRecord(name="o", topic_id=OTHER), partition, ClearElrRecord()]
    assert replayed(a_topic(), *new).after.topics.by_id[OTHER].partitions[0].elr == ()


def test_local_replicas_are_what_a_broker_has_to_do() -> None:
    moved = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=2, replicas=[2, 3], isr=[2, 3])
    update = replayed(a_topic(), moved)
    key = (TOPIC, 0)
    assert local_replicas(update, 1).removed == {key}
    assert local_replicas(update, 2).elected == local_replicas(update, 2).leaders.keys() == {key}
    assert local_replicas(update, 3).followers.keys() == {key}
    assert local_replicas(replayed(update.after, RemoveTopicRecord(topic_id=TOPIC)), 3).removed == {key}


def test_a_leader_whose_isr_alone_changes_is_not_elected_anew() -> None:
    update = replayed(a_topic(), PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=[1, 2, 3]))
    assert local_replicas(update, 1).leaders
    assert not local_replicas(update, 1).elected


@pytest.mark.parametrize(
    "record",
    [
        PartitionRecord(partition_id=0, topic_id=OTHER),
        PartitionChangeRecord(partition_id=7, topic_id=TOPIC),
        PartitionChangeRecord(partition_id=0, topic_id=TOPIC, replicas=[1], directories=[OTHER, OTHER]),
        RemoveTopicRecord(topic_id=OTHER),
        TopicRecord(name="t", topic_id=OTHER),
        TopicRecord(name="o", topic_id=TOPIC),
        ClearElrRecord(topic_name="o"),
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=1, fenced=1),
        UnregisterBrokerRecord(broker_id=1, broker_epoch=1),
        FeatureLevelRecord(name="metadata.version", feature_level=99),
        ProducerIdsRecord(next_producer_id=-1),
        EndTransactionRecord(),
    ],
)
def test_a_record_that_does_not_fit_is_a_broken_log(record: MetadataRecord) -> None:
    with pytest.raises(ReplayError, match=record.schema.name):
        replayed(a_topic(), record)


def test_a_change_for_another_epoch_of_a_broker_is_a_broken_log() -> None:
    image = a_topic(RegisterBrokerRecord(broker_id=1, broker_epoch=5))
    with pytest.raises(ReplayError, match="epoch 4"):
        replayed(image, BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=4, fenced=1))


def test_reserved_directories_have_a_meaning() -> None:
    assert all(map(is_reserved, (MIGRATING, UNASSIGNED, LOST)))
    assert not is_reserved(TOPIC)
    assert [is_online(it, [OTHER]) for it in (MIGRATING, UNASSIGNED, LOST, OTHER, TOPIC)] == [
        True,
        True,
        False,
        True,
        False,
    ]
    assert is_online(TOPIC, [])


class TestTransactions:
    """KIP-868."""

    name = TopicRecord(name="t", topic_id=TOPIC)
    other = TopicRecord(name="o", topic_id=OTHER)

    def load(self, loader: MetadataLoader, *records: MetadataRecord) -> list[set[str]]:
        base = loader._loaded.offset + 1
        updates = loader.load_batch(records, base_offset=base, epoch=1, timestamp_ms=1)
        return [set(update.after.topics.by_name) for update in updates]

    def test_nothing_is_seen_before_the_end(self) -> None:
        loader = MetadataLoader()
        assert self.load(loader, *first_records()) == [set()]
        assert self.load(loader, BeginTransactionRecord(), self.name) == []
        assert self.load(loader, self.other) == []
        assert loader.image.provenance.offset == 0
        assert loader.transaction_offset == 1
        assert self.load(loader, EndTransactionRecord()) == [{"t", "o"}]
        assert loader.image.provenance.offset == 4

    def test_what_was_aborted_never_happened(self) -> None:
        loader = MetadataLoader()
        self.load(loader, BeginTransactionRecord(), self.name)
        assert self.load(loader, AbortTransactionRecord(reason="failover")) == [set()]
        assert self.load(loader, self.other) == [{"o"}]

    def test_records_before_a_begin_in_mid_batch_take_effect_at_once(self) -> None:
        loader = MetadataLoader()
        assert self.load(loader, self.name, BeginTransactionRecord(), self.other) == [{"t"}]
        assert loader.image.provenance.offset == 0

    def test_a_snapshot_ends_an_open_transaction(self) -> None:
        loader = MetadataLoader()
        self.load(loader, BeginTransactionRecord(), self.name)
        update = loader.load_snapshot([*first_records(), self.other], Provenance(9, 1, 1))
        assert set(update.after.topics.by_name) == {"o"}
        assert loader.transaction_offset is None
        assert self.load(loader, NoOpRecord()) == [{"o"}]

    @pytest.mark.parametrize("record", [EndTransactionRecord(), AbortTransactionRecord()])
    def test_an_end_without_a_beginning_is_a_broken_log(self, record: MetadataRecord) -> None:
        with pytest.raises(ReplayError, match="outside of a transaction"):
            self.load(MetadataLoader(), record)

    def test_a_transaction_inside_another_is_a_broken_log(self) -> None:
        with pytest.raises(ReplayError, match="inside the one from 0"):
            self.load(MetadataLoader(), BeginTransactionRecord(), BeginTransactionRecord())


def test_a_snapshot_tells_what_it_changed() -> None:
    loader = MetadataLoader(a_topic())
    update = loader.load_snapshot([*first_records(), TopicRecord(name="o", topic_id=OTHER)], Provenance(9, 1, 1))
    assert update.changes.created_topics == {OTHER}
    assert update.changes.deleted_topics == {TOPIC}


def test_registration_offset_is_where_the_registration_stands() -> None:
    loader = MetadataLoader()
    records = [NoOpRecord(), RegisterBrokerRecord(broker_id=1, broker_epoch=10)]
    loader.load_batch(records, base_offset=10, epoch=1, timestamp_ms=1)
    assert loader.image.brokers[1].registration_offset == 11
