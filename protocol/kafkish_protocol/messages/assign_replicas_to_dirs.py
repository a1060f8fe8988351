"""AssignReplicasToDirs (73): a broker says in which log directory its replicas are."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, Uuid


class AssignReplicasToDirsRequestPartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")


class AssignReplicasToDirsRequestTopicData(Struct, name="TopicData"):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[AssignReplicasToDirsRequestPartitionData] = field(
        Array(AssignReplicasToDirsRequestPartitionData), "0+"
    )


class AssignReplicasToDirsRequestDirectoryData(Struct, name="DirectoryData"):
    id: Uuid = field(UUID, "0+")
    topics: list[AssignReplicasToDirsRequestTopicData] = field(Array(AssignReplicasToDirsRequestTopicData), "0+")


class AssignReplicasToDirsRequest(Request, api_key=73, versions="0", flexible="0+", listeners="controller"):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    broker_epoch: int = field(Int64, "0+", default=-1)
    directories: list[AssignReplicasToDirsRequestDirectoryData] = field(
        Array(AssignReplicasToDirsRequestDirectoryData), "0+"
    )


class AssignReplicasToDirsResponsePartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")


class AssignReplicasToDirsResponseTopicData(Struct, name="TopicData"):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[AssignReplicasToDirsResponsePartitionData] = field(
        Array(AssignReplicasToDirsResponsePartitionData), "0+"
    )


class AssignReplicasToDirsResponseDirectoryData(Struct, name="DirectoryData"):
    id: Uuid = field(UUID, "0+")
    topics: list[AssignReplicasToDirsResponseTopicData] = field(Array(AssignReplicasToDirsResponseTopicData), "0+")


class AssignReplicasToDirsResponse(Response, api_key=73, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    directories: list[AssignReplicasToDirsResponseDirectoryData] = field(
        Array(AssignReplicasToDirsResponseDirectoryData), "0+"
    )
