"""Topics and partitions, in `__cluster_metadata`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.types import UUID, Array, Int8, Int32, String, Uuid


class TopicRecord(MetadataRecord, api_key=2, versions="0", flexible="0+"):
    name: str = field(String, "0+", entity="topicName")
    topic_id: Uuid = field(UUID, "0+")


class RemoveTopicRecord(MetadataRecord, api_key=9, versions="0", flexible="0+"):
    topic_id: Uuid = field(UUID, "0+")


class PartitionRecord(MetadataRecord, api_key=3, versions="0-2", flexible="0+"):
    partition_id: int = field(Int32, "0+", default=-1)
    topic_id: Uuid = field(UUID, "0+")
    replicas: list[int] = field(Array(Int32), "0+", entity="brokerId")
    isr: list[int] = field(Array(Int32), "0+")
    removing_replicas: list[int] = field(Array(Int32), "0+", entity="brokerId")
    adding_replicas: list[int] = field(Array(Int32), "0+", entity="brokerId")
    leader: int = field(Int32, "0+", default=-1, entity="brokerId")
    leader_recovery_state: int = field(Int8, "0+", tag=0, tagged="0+")
    leader_epoch: int = field(Int32, "0+", default=-1)
    partition_epoch: int = field(Int32, "0+", default=-1)
    directories: list[Uuid] = field(Array(UUID), "1+")
    eligible_leader_replicas: list[int] | None = field(
        Array(Int32), "2+", nullable="2+", tag=1, tagged="2+", default=None, entity="brokerId"
    )
    last_known_elr: list[int] | None = field(
        Array(Int32), "2+", nullable="2+", tag=2, tagged="2+", default=None, entity="brokerId"
    )


class PartitionChangeRecord(MetadataRecord, api_key=5, versions="0-2", flexible="0+"):
    partition_id: int = field(Int32, "0+", default=-1)
    topic_id: Uuid = field(UUID, "0+")
    isr: list[int] | None = field(
        Array(Int32), "0+", nullable="0+", tag=0, tagged="0+", default=None, entity="brokerId"
    )
    leader: int = field(Int32, "0+", tag=1, tagged="0+", default=-2, entity="brokerId")
    replicas: list[int] | None = field(
        Array(Int32), "0+", nullable="0+", tag=2, tagged="0+", default=None, entity="brokerId"
    )
    removing_replicas: list[int] | None = field(
        Array(Int32), "0+", nullable="0+", tag=3, tagged="0+", default=None, entity="brokerId"
    )
    adding_replicas: list[int] | None = field(
        Array(Int32), "0+", nullable="0+", tag=4, tagged="0+", default=None, entity="brokerId"
    )
    leader_recovery_state: int = field(Int8, "0+", tag=5, tagged="0+", default=-1)
    directories: list[Uuid] | None = field(Array(UUID), "1+", nullable="1+", tag=8, tagged="1+", default=None)
    eligible_leader_replicas: list[int] | None = field(
        Array(Int32), "2+", nullable="2+", tag=6, tagged="2+", default=None, entity="brokerId"
    )
    last_known_elr: list[int] | None = field(
        Array(Int32), "2+", nullable="2+", tag=7, tagged="2+", default=None, entity="brokerId"
    )


class ClearElrRecord(MetadataRecord, api_key=28, versions="0", flexible="0+"):
    topic_name: str = field(String, "0+", entity="topicName")
