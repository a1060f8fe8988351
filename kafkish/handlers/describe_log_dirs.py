"""DescribeLogDirs (35): this broker's data directories, with the size of each replica in them.

No list of topics (null) means all replicas. A directory that has failed has an error and nothing else.
"""

from collections.abc import Callable, Iterable

from kafkish.handlers.registry import RequestContext, handles
from kafkish.handlers.services import LogDirectoryInfo
from kafkish.partitions.partition import Partition
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


@handles(ApiKey.DESCRIBE_LOG_DIRS)
def describe_log_dirs(request: DescribeLogDirsRequest, context: RequestContext) -> DescribeLogDirsResponse:
    """Answer for each directory."""
    wanted = wanted_replicas(request)
    results = [described(directory, wanted) for directory in context.services.partitions.directories()]
    return DescribeLogDirsResponse(results=results)


def wanted_replicas(request: DescribeLogDirsRequest) -> Callable[[Partition], bool]:
    """Whether a replica is asked for."""
    if request.topics is None:
        return lambda _: True
    asked = {(topic.topic, index) for topic in request.topics for index in topic.partitions}
    return lambda partition: (partition.topic, partition.index) in asked


def described(directory: LogDirectoryInfo, wanted: Callable[[Partition], bool]) -> DescribeLogDirsResult:
    """One directory's row."""
    if directory.failure is not None:
        return DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=directory.path)
    return DescribeLogDirsResult(
        log_dir=directory.path,
        topics=topic_rows(partition for partition in directory.partitions if wanted(partition)),
        total_bytes=directory.total_bytes,
        usable_bytes=directory.usable_bytes,
        is_cordoned=directory.is_cordoned,
    )


def topic_rows(partitions: Iterable[Partition]) -> list[DescribeLogDirsTopic]:
    """Replicas by topic. A lag can only be seen on a replica that has lost the end of its log."""
    rows: dict[str, DescribeLogDirsTopic] = {}
    for partition in partitions:
        topic = rows.setdefault(partition.topic, DescribeLogDirsTopic(name=partition.topic))
        log = partition.log
        topic.partitions.append(
            DescribeLogDirsPartition(
                partition_index=partition.index,
                partition_size=log.size_bytes,
                offset_lag=max(log.high_watermark - log.end_offset, 0),
            )
        )
    return list(rows.values())
