"""New partitions: replicas that a client names or that are placed."""

from collections.abc import Iterable, Sequence
from functools import cache

from kafkish.controller.elections import default_directory
from kafkish.controller.operation import ApiError
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import Partition, partition_to_record
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.types import Uuid


def check_replicas(image: MetadataImage, replicas: Sequence[int], replication_factor: int | None) -> None:
    """Refuse replicas that a client named, where they cannot be; the factor is that of the partitions before."""
    if not replicas:
        raise _refusal("The manual partition assignment includes an empty replica list.")
    ordered = sorted(replicas)
    for broker_id, before in zip(ordered, [None, *ordered], strict=False):
        if broker_id not in image.brokers:
            raise _refusal(
                f"The manual partition assignment includes broker {broker_id}, but no such broker is registered."
            )
        if broker_id == before:
            raise _refusal(f"The manual partition assignment includes the broker {broker_id} more than once.")
    if replication_factor is not None and len(replicas) != replication_factor:
        raise _refusal(
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this is not "
            f"consistent with previous partitions, which have {replication_factor} replica(s)."
        )


def new_partition(image: MetadataImage, replicas: Sequence[int], nobody_active: ApiError) -> Partition:
    """A new partition: its active replicas are in sync, and the first of them leads."""
    isr = tuple(filter(image.is_active, replicas))
    if not isr:
        raise nobody_active
    directories = tuple(default_directory(image, broker_id) for broker_id in replicas)
    return Partition(replicas=tuple(replicas), directories=directories, isr=isr, leader=isr[0])


def new_partitions(image: MetadataImage, placed: Iterable[Sequence[int]], nobody_active: ApiError) -> list[Partition]:
    """Many of them; those with the same replicas are the same."""
    make = cache(lambda replicas: new_partition(image, replicas, nobody_active))
    return [make(tuple(replicas)) for replicas in placed]


def partition_records(
    image: MetadataImage, topic_id: Uuid, partitions: Sequence[Partition], first: int = 0
) -> list[MetadataRecord]:
    """The records of new partitions, from this index on."""
    return [
        partition_to_record(partition, topic_id, index, image.metadata_version)
        for index, partition in enumerate(partitions, first)
    ]


def named_but_inactive(index: int) -> ApiError:
    """For a partition whose replicas a client named."""
    return _refusal(
        f"All brokers specified in the manual partition assignment for partition {index} are fenced or in controlled "
        "shutdown."
    )


def placed_but_inactive(replication_factor: int) -> ApiError:
    """For a partition whose replicas were placed."""
    return ApiError(
        ErrorCode.INVALID_REPLICATION_FACTOR,
        f"Unable to replicate the partition {replication_factor} time(s): All brokers are currently fenced or in "
        "controlled shutdown.",
    )


def _refusal(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
