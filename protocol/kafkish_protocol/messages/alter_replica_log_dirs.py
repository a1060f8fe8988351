"""AlterReplicaLogDirs (34): move replicas between a broker's log directories."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, String


class AlterReplicaLogDirTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[int] = field(Array(Int32), "0+")


class AlterReplicaLogDir(Struct):
    path: str = field(String, "0+")
    topics: list[AlterReplicaLogDirTopic] = field(Array(AlterReplicaLogDirTopic), "0+")


class AlterReplicaLogDirsRequest(Request, api_key=34, versions="1-2", flexible="2+", listeners="broker"):
    dirs: list[AlterReplicaLogDir] = field(Array(AlterReplicaLogDir), "0+")


class AlterReplicaLogDirPartitionResult(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")


class AlterReplicaLogDirTopicResult(Struct):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[AlterReplicaLogDirPartitionResult] = field(Array(AlterReplicaLogDirPartitionResult), "0+")


class AlterReplicaLogDirsResponse(Response, api_key=34, versions="1-2", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    results: list[AlterReplicaLogDirTopicResult] = field(Array(AlterReplicaLogDirTopicResult), "0+")
