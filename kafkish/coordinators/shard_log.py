"""The partition that a shard lives on, as the coordinator's runtime needs it: a port, for whoever owns partitions."""

from collections.abc import Callable
from typing import Protocol

from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.records import Batch
from kafkish_protocol.varint import Buffer


class LogRefusedError(Exception):
    """The log did not take a batch, and nothing of it was written."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class ShardLog(Protocol):
    """One partition, led by this node from the shard's election to its resignation."""

    @property
    def start_offset(self) -> int: ...
    @property
    def end_offset(self) -> int: ...
    @property
    def high_watermark(self) -> int: ...
    @property
    def max_batch_bytes(self) -> int:
        """`max.message.bytes` of the topic."""

    def append(self, batch: Batch, wall_ms: int, /) -> None:
        """Write a batch as the leader does for `acks=all`, all or nothing; it may move the high watermark at once.

        Raises `LogRefusedError`: too few replicas in sync, not the leader any more, the disk is broken.
        """

    def read(self, offset: int, max_bytes: int, /) -> Buffer:
        """Whole batches, from the one that has this offset on, as far as the log's end and not only to the high
        watermark; at least one, however large.
        """

    def listen(self, listener: Callable[[], object], /) -> None:
        """Call when the high watermark has moved. Once it was called, `high_watermark` says how far."""

    def unlisten(self, listener: Callable[[], object], /) -> None: ...
