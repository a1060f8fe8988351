"""DescribeLogDirs (35): a broker's log directories, with the size of each replica in them."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int16, Int32, Int64, String


class DescribableLogDirTopic(Struct):
    topic: str = field(String, "0+", entity="topicName")
    partitions: list[int] = field(Array(Int32), "0+")


class DescribeLogDirsRequest(Request, api_key=35, versions="1-5", flexible="2+", listeners="broker"):
    topics: list[DescribableLogDirTopic] | None = field(Array(DescribableLogDirTopic), "0+", nullable="0+")


class DescribeLogDirsPartition(Struct):
    partition_index: int = field(Int32, "0+")
    partition_size: int = field(Int64, "0+")
    offset_lag: int = field(Int64, "0+")
    is_future_key: bool = field(Bool, "0+")


class DescribeLogDirsTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[DescribeLogDirsPartition] = field(Array(DescribeLogDirsPartition), "0+")


class DescribeLogDirsResult(Struct):
    error_code: int = field(Int16, "0+")
    log_dir: str = field(String, "0+")
    topics: list[DescribeLogDirsTopic] = field(Array(DescribeLogDirsTopic), "0+")
    total_bytes: int = field(Int64, "4+", default=-1, ignorable=True)
    usable_bytes: int = field(Int64, "4+", default=-1, ignorable=True)
    is_cordoned: bool = field(Bool, "5+", ignorable=True)


class DescribeLogDirsResponse(Response, api_key=35, versions="1-5", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "3+", ignorable=True)
    results: list[DescribeLogDirsResult] = field(Array(DescribeLogDirsResult), "0+")
