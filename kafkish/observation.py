"""What an operator can see of a broker: numbers that are computed when somebody looks, and the loop's own lag."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from kafkish.coordinators.groups.coordinator import GroupCoordinator
from kafkish.metrics import LabelledValues, Metrics
from kafkish.network.listener import Listener
from kafkish.partitions.cleaning import Cleaning
from kafkish.partitions.table import PartitionTable
from kafkish.partitions.waiting_fetch import WaitingFetch
from kafkish.timers import Timers
from kafkish_storage.compaction import CompactionJob

_PROBE_MS: Final = 250


def observe_partitions(metrics: Metrics, partitions: PartitionTable) -> None:
    """Logs and who waits for them."""
    metrics.gauge("kafkish_partitions", "Replicas on this node", lambda: [((), len(partitions))])
    metrics.gauge("kafkish_log_bytes", "Bytes of a topic's logs on this node", lambda: _log_bytes(partitions), "topic")
    metrics.gauge(
        "kafkish_log_end_offset", "The next offset", lambda: _ends(partitions), "topic", "partition"
    )  # fmt: skip
    metrics.gauge("kafkish_waiting_fetches", "Fetches that wait for records", lambda: _waiting_fetches(partitions))
    metrics.gauge(
        "kafkish_waiting_produces", "Appends that wait for replicas or for the disk",
        lambda: [((), sum(partition.waiting_produces for partition in list(partitions)))],
    )  # fmt: skip


def observe_cleaning(metrics: Metrics, cleaning: Cleaning) -> None:
    """Compaction."""
    metrics.gauge("kafkish_compactions", "Compactions since the start", lambda: [((), cleaning.finished)])
    metrics.gauge(
        "kafkish_compaction_progress", "How much of a log is compacted, from 0 to 1",
        lambda: list(map(_progress, list(cleaning.under_way))), "topic", "partition",
    )  # fmt: skip


def observe_groups(metrics: Metrics, groups: GroupCoordinator, partitions: PartitionTable) -> None:
    """Groups and how far they are behind."""
    metrics.gauge("kafkish_groups", "Groups that this node coordinates", lambda: [((), groups.group_count)])
    metrics.gauge(
        "kafkish_group_lag", "Records that a group has not committed yet",
        lambda: _lag(groups, partitions), "group", "topic", "partition",
    )  # fmt: skip


def observe_connections(metrics: Metrics, listeners: Sequence[Listener]) -> None:
    """Open connections, by listener."""
    metrics.gauge(
        "kafkish_connections", "Open connections",
        lambda: [((f"{each.address[0]}:{each.address[1]}",), len(each)) for each in listeners], "listener",
    )  # fmt: skip


def _progress(job: CompactionJob) -> tuple[tuple[str, str], float]:
    topic, partition = job.log.partition
    return (topic, str(partition)), job.stats.bytes_read / max(1, job.stats.bytes_to_read)


def _log_bytes(partitions: PartitionTable) -> LabelledValues:
    sizes: dict[str, int] = defaultdict(int)
    for partition in list(partitions):
        sizes[partition.topic] += partition.log.size_bytes
    return [((topic,), size) for topic, size in sizes.items()]


def _ends(partitions: PartitionTable) -> LabelledValues:
    return [((each.topic, str(each.index)), each.log.end_offset) for each in list(partitions)]


def _waiting_fetches(partitions: PartitionTable) -> LabelledValues:
    """One fetch may wait for many partitions."""
    waiting = {id(each) for partition in list(partitions) for each in partition.watchers(WaitingFetch)}
    return [((), len(waiting))]


def _lag(groups: GroupCoordinator, partitions: PartitionTable) -> Iterator[tuple[tuple[str, str, str], float]]:
    for group, topic, index, offset in groups.committed_offsets():
        partition = partitions.by_name(topic, index)
        if partition is not None:
            yield (group, topic, str(index)), max(0, partition.log.high_watermark - offset)


class LoopProbe:
    """Measures how late the loop runs what is due: how long something has held it."""

    def __init__(self, metrics: Metrics, timers: Timers, monotonic_s: Callable[[], float]) -> None:
        self._lag = metrics.histogram("kafkish_loop_lag_seconds", "How late the event loop runs what is due")
        self._timers = timers
        self._monotonic_s = monotonic_s
        self._due_s = 0.0
        self._is_stopped = False

    def start(self) -> None:
        """Begin to measure."""
        self._due_s = self._monotonic_s() + _PROBE_MS / 1000
        self._timers.call_later(_PROBE_MS, self._woken)

    def stop(self) -> None:
        self._is_stopped = True

    def _woken(self) -> None:
        self._lag.observe(max(0.0, self._monotonic_s() - self._due_s))
        if not self._is_stopped:
            self.start()
