"""Where a reader's log parts from the leader's."""

from typing import NamedTuple

from kafkish.partitions.errors import PartitionError
from kafkish.partitions.partition import Partition
from kafkish_protocol.error_codes import ErrorCode


class Diverging(NamedTuple):
    """The last epoch that both have, and where it ends on the leader."""

    epoch: int
    end_offset: int


def find_divergence(partition: Partition, fetch_offset: int, last_fetched_epoch: int) -> Diverging | None:
    """Where a reader must go back to, that has read up to an offset in an epoch; None if it may go on (KIP-595)."""
    end = partition.log.end_of_epoch(last_fetched_epoch)
    if end is None or fetch_offset < partition.log.start_offset:
        raise PartitionError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if end.epoch < last_fetched_epoch or end.end_offset < fetch_offset:
        return Diverging(end.epoch, end.end_offset)
    return None
