"""Random requests to a controller: brokers that come and go, and partitions that have to follow."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kafkish.metadata.image import MetadataImage
from kafkish.metadata.nodes import Broker
from kafkish.metadata.topics import Partition, Topic
from kafkish.tests.controller.cluster import CLUSTER_ID, FEATURES, directory
from kafkish.tests.controller.test_alter_configs import DELETE, SET, change
from kafkish.tests.controller.test_create_topics import topic
from kafkish_protocol.messages import assign_replicas_to_dirs as dirs
from kafkish_protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from kafkish_protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    BrokerState,
)
from kafkish_protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkish_protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from kafkish_protocol.messages.broker_registration import BrokerRegistrationRequest, Listener
from kafkish_protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafkish_protocol.messages.create_topics import CreateTopicsRequest
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafkish_protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafkish_protocol.schema import Request
from kafkish_protocol.types import Uuid

BROKERS = (2, 3, 4, 5)
TOPICS = ("a", "b", "c")
ALL_SEEN = 2**40  # a metadata offset that is beyond everything
NOT_YET = 0


class Walk:
    """Draws requests that make sense in an image, and some that do not."""

    def __init__(self, seed: int, cluster_id: str = CLUSTER_ID) -> None:
        self.dice = random.Random(seed)
        self.cluster_id = cluster_id
        self.once_used: set[Uuid] = set()
        """Directories of deleted topics. Kafka 4.3 keeps those in an index, and fails when they go offline."""

    def next_request(self, image: MetadataImage) -> Request:
        while True:
            request = self.dice.choice(KINDS)(self, image)
            if request is not None:
                return request

    def any_broker(self, image: MetadataImage) -> Broker | None:
        return self.dice.choice(list(image.brokers.values())) if image.brokers else None

    def any_partition(self, image: MetadataImage) -> tuple[Topic, int, Partition] | None:
        if not image.topics.by_id:
            return None
        found = self.dice.choice(list(image.topics.by_id.values()))
        index = self.dice.choice(list(found.partitions))
        return found, index, found.partitions[index]

    def some(self, count: int, of: tuple[int, ...] = BROKERS) -> list[int]:
        return self.dice.sample(of, min(count, len(of)))

    def register(self, image: MetadataImage) -> Request | None:
        id = self.dice.choice(BROKERS)
        known = image.brokers.get(id)
        return BrokerRegistrationRequest(
            broker_id=id,
            cluster_id=self.cluster_id,
            incarnation_id=Uuid(self.dice.randbytes(16)),
            listeners=[Listener(name="PLAINTEXT", host="127.0.0.1", port=9000 + id)],
            features=FEATURES,
            rack=None,
            log_dirs=[directory(id * 10), directory(id * 10 + 1)][: 1 + id % 2],
            previous_broker_epoch=known.epoch if known is not None and self.dice.random() < 0.5 else -1,
        )

    def heartbeat(self, image: MetadataImage) -> Request | None:
        broker = self.any_broker(image)
        if broker is None:
            return None
        request = BrokerHeartbeatRequest(
            broker_id=broker.id,
            broker_epoch=broker.epoch,
            current_metadata_offset=self.dice.choice((ALL_SEEN, ALL_SEEN, NOT_YET)),
            want_fence=self.dice.random() < 0.15,
            want_shut_down=self.dice.random() < 0.15,
        )
        failing = [each for each in broker.directories if each not in self.once_used]
        if self.dice.random() < 0.1 and failing and len(broker.directories) > 1:
            request.offline_log_dirs = [self.dice.choice(failing)]
        if self.dice.random() < 0.1:
            request.cordoned_log_dirs = list(broker.directories[: self.dice.randint(0, 2)])
        return request

    def create_topic(self, image: MetadataImage) -> Request | None:
        free = [name for name in TOPICS if name not in image.topics.by_name]
        if not free:
            return None
        factor = self.dice.randint(1, 4)
        assigned = [self.some(factor) for _ in range(self.dice.randint(1, 3))]
        return CreateTopicsRequest(topics=[topic(self.dice.choice(free), assigned=assigned)])

    def create_partitions(self, image: MetadataImage) -> Request | None:
        chosen = self.any_partition(image)
        if chosen is None or len(chosen[0].partitions) > 5:
            return None
        if len({len(partition.replicas) for partition in chosen[0].partitions.values()}) > 1:
            return None  # which of them counts is a matter of Java's hash tables
        named = [CreatePartitionsAssignment(broker_ids=self.some(len(chosen[0].partitions[0].replicas)))]
        wanted = CreatePartitionsTopic(name=chosen[0].name, count=len(chosen[0].partitions) + 1, assignments=named)
        return CreatePartitionsRequest(topics=[wanted], timeout_ms=30_000)

    def delete_topic(self, image: MetadataImage) -> Request | None:
        if self.dice.random() < 0.8:
            return None
        name = self.dice.choice(TOPICS)
        known = image.topics.by_name.get(name)
        for partition in known.partitions.values() if known is not None else ():
            self.once_used.update(partition.directories)
        return DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=30_000)

    def alter_config(self, image: MetadataImage) -> Request | None:
        name, value = self.dice.choice(
            (("min.insync.replicas", str(self.dice.randint(1, 3))), ("unclean.leader.election.enable", "true"))
        )
        wanted = self.dice.choice(TOPICS)
        known = image.topics.by_name.get(wanted)
        if known is not None and any(
            partition.elr or partition.last_known_elr for partition in known.partitions.values()
        ):
            return None  # Kafka 4.3 forgets to clear its index of eligible replicas, and goes wrong from there
        done = (DELETE, name, None) if self.dice.random() < 0.3 else (SET, name, value)
        return IncrementalAlterConfigsRequest(resources=[change(2, wanted, done)])

    def elect(self, _: MetadataImage) -> Request | None:
        names = [TopicPartitions(topic=name, partitions=[0, 1]) for name in self.dice.sample(TOPICS, 2)]
        return ElectLeadersRequest(election_type=self.dice.randint(0, 1), topic_partitions=names)

    def reassign(self, image: MetadataImage) -> Request | None:
        chosen = self.any_partition(image)
        if chosen is None:
            return None
        replicas = None if self.dice.random() < 0.3 else self.some(self.dice.randint(1, 4))
        parts = [ReassignablePartition(partition_index=chosen[1], replicas=replicas)]
        return AlterPartitionReassignmentsRequest(
            topics=[ReassignableTopic(name=chosen[0].name, partitions=parts)],
            allow_replication_factor_change=self.dice.random() < 0.8,
        )

    def alter_partition(self, image: MetadataImage) -> Request | None:
        chosen = self.any_partition(image)
        if chosen is None or chosen[2].leader not in image.brokers:
            return None
        found, index, partition = chosen
        others = [id for id in partition.replicas if id != partition.leader and self.dice.random() < 0.8]
        known = [id for id in (partition.leader, *others) if id in image.brokers]
        wanted = AlterPartitionRequestPartitionData(
            partition_index=index,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            new_isr_with_epochs=[BrokerState(broker_id=id, broker_epoch=image.brokers[id].epoch) for id in known],
            leader_recovery_state=int(partition.leader_recovery_state and self.dice.random() < 0.3),
        )
        if self.dice.random() < 0.15:
            changes: list[dict[str, Any]] = [
                {"leader_epoch": partition.leader_epoch + self.dice.choice((-1, 1))},
                {"partition_epoch": partition.partition_epoch + self.dice.choice((-1, 1))},
                {"partition_index": 9},
                {"leader_recovery_state": 1},
                {"new_isr_with_epochs": wanted.new_isr_with_epochs * 2},
                {"new_isr_with_epochs": [BrokerState(broker_id=id, broker_epoch=1) for id in known]},
            ]
            wanted = replace(wanted, **self.dice.choice(changes))
        epoch = image.brokers[partition.leader].epoch
        asked = AlterPartitionRequestTopicData(topic_id=found.id, partitions=[wanted])
        return AlterPartitionRequest(broker_id=partition.leader, broker_epoch=epoch, topics=[asked])

    def assign_directory(self, image: MetadataImage) -> Request | None:
        chosen, broker = self.any_partition(image), self.any_broker(image)
        if chosen is None or broker is None:
            return None
        parts = [dirs.AssignReplicasToDirsRequestPartitionData(partition_index=chosen[1])]
        topics = [dirs.AssignReplicasToDirsRequestTopicData(topic_id=chosen[0].id, partitions=parts)]
        where = self.dice.choice((*broker.directories, *broker.directories, directory(99)))
        found = dirs.AssignReplicasToDirsRequestDirectoryData(id=where, topics=topics)
        return dirs.AssignReplicasToDirsRequest(broker_id=broker.id, broker_epoch=broker.epoch, directories=[found])

    def unregister(self, _: MetadataImage) -> Request | None:
        return UnregisterBrokerRequest(broker_id=self.dice.choice(BROKERS)) if self.dice.random() < 0.3 else None

    def producer_ids(self, image: MetadataImage) -> Request | None:
        broker = self.any_broker(image)
        return None if broker is None else AllocateProducerIdsRequest(broker_id=broker.id, broker_epoch=broker.epoch)


KINDS: tuple[Callable[[Walk, MetadataImage], Request | None], ...] = (
    Walk.register,
    *[Walk.heartbeat] * 8,
    *[Walk.create_topic] * 2,
    Walk.create_partitions,
    Walk.delete_topic,
    *[Walk.alter_config] * 2,
    Walk.elect,
    *[Walk.reassign] * 3,
    *[Walk.alter_partition] * 6,
    *[Walk.assign_directory] * 2,
    Walk.unregister,
    Walk.producer_ids,
)
