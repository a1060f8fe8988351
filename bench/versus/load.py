"""The load generator: many connections in one loop, each with a few requests in flight.

Requests are bytes before the clock starts, and replies are looked into only as far as the next request needs, so that
the broker is the limit and not this process.
"""

import select
import time
from collections.abc import Sequence
from typing import Final, NamedTuple, NoReturn

from bench.versus.wire import TIMEOUT_S, Batch, Topic, connect, decoded, fetch_request, frame, produce_frame
from kafkish_protocol.api import ApiKey

PARTITIONS_PER_REQUEST: Final = 10
FETCH_BYTES: Final = 1 << 20  # of a partition, as the Java consumer asks for


class Lane:
    """A connection. What it sends next, and what it learns from a reply, is its subclass's affair."""

    def __init__(self, address: str, depth: int = 1, buffer_bytes: int = 1 << 16) -> None:
        self.socket = connect(address)
        self.depth = depth
        self.replies = self.records = self.value_bytes = 0
        self.waiting = 0
        self.buffer, self._filled = bytearray(buffer_bytes), 0

    def next_frame(self) -> bytes | None:
        """None when there is nothing more to ask for."""
        raise NotImplementedError

    def take(self, start: int) -> None:
        """Look at the reply that starts there in the buffer."""

    def start(self) -> None:
        for _ in range(self.depth):
            self.send()

    def send(self) -> None:
        if (data := self.next_frame()) is not None:
            self.socket.sendall(data)
            self.waiting += 1

    def receive(self, and_send: bool = True) -> None:
        """Read what is there, and send a request for each whole reply."""
        received = self.socket.recv_into(memoryview(self.buffer)[self._filled :])
        if not received:
            raise ConnectionError("the broker closed a connection of the load generator")
        self._filled += received
        start = 0
        while self._filled - start >= 4:
            end = start + 4 + int.from_bytes(self.buffer[start : start + 4], "big")
            if end > self._filled:
                assert end - start <= len(self.buffer), "a reply is larger than was asked for"
                break
            self.replies += 1
            self.waiting -= 1
            self.take(start + 4)
            if and_send:
                self.send()
            start = end
        if start:
            self.buffer[: self._filled - start] = self.buffer[start : self._filled]
            self._filled -= start


class ProduceLane(Lane):
    """Sends the same batch, to the topic's partitions in turn."""

    def __init__(self, address: str, topic: Topic, batch: Batch, acks: int, depth: int = 5) -> None:
        super().__init__(address, depth)
        width = min(topic.partitions, PARTITIONS_PER_REQUEST)
        starts = range(0, topic.partitions - width + 1, width)
        self._frames = [produce_frame(topic, range(start, start + width), batch, acks) for start in starts]
        self._sent = 0
        self._per_reply = batch.records * width, batch.value_bytes * width

    def next_frame(self) -> bytes:
        self._sent += 1
        return self._frames[self._sent % len(self._frames)]

    def take(self, start: int) -> None:  # noqa: ARG002  # the records are counted by their offsets at the end
        records, value_bytes = self._per_reply
        self.records += records
        self.value_bytes += value_bytes


class FetchLane(Lane):
    """Reads some partitions from their first record on. All batches are alike: their number tells the next offset."""

    def __init__(self, address: str, topic: Topic, partitions: Sequence[int], batch: Batch) -> None:
        super().__init__(address, buffer_bytes=len(partitions) * (FETCH_BYTES + 4096) + len(batch.data))
        self._topic, self._batch = topic, batch
        self.offsets = dict.fromkeys(partitions, 0)
        self.ends: list[int] | None = None
        """Where each partition of the topic ends for this lane; without it, the lane waits for more."""
        self.again = False
        """Whether to begin anew at the end."""

    def next_frame(self) -> bytes | None:
        left = self._left()
        if not left and self.again:
            self.offsets = left = dict.fromkeys(self.offsets, 0)
        return frame(fetch_request(self._topic, left, FETCH_BYTES)) if left else None

    def _left(self) -> dict[int, int]:
        ends = self.ends
        return {index: offset for index, offset in self.offsets.items() if ends is None or offset < ends[index]}

    def take(self, start: int) -> None:
        response = decoded(ApiKey.FETCH, self.buffer, start)
        for topic in response.responses:
            for partition in topic.partitions:
                assert partition.error_code == 0, partition
                batches = len(partition.records or b"") // len(self._batch.data)
                self.offsets[partition.partition_index] += batches * self._batch.records
                self.records += batches * self._batch.records
                self.value_bytes += batches * self._batch.value_bytes


class Moved(NamedTuple):
    """What came back while the clock ran."""

    seconds: float
    value_bytes: int
    replies: int
    load_cpu_s: float | None = None
    """What the load generator itself used; as much as `seconds` if it was the limit."""

    @property
    def mb_per_s(self) -> float:
        return self.value_bytes / 1e6 / self.seconds


def drive(lanes: Sequence[Lane], seconds: float, limit_bytes: int = 1 << 62) -> Moved:
    """Keep all lanes busy until the time is over, they have moved so much, or all are done.

    Requests that are in flight then are waited for, off the clock.
    """
    with select.epoll() as poll:
        by_number = {lane.socket.fileno(): lane for lane in lanes}
        for number in by_number:
            poll.register(number, select.EPOLLIN)
        replies = sum(lane.replies for lane in lanes)
        cpu_s, start_s = time.process_time(), time.perf_counter()
        now_s = start_s
        for lane in lanes:
            lane.start()
        busy, moved_bytes = sum(lane.waiting > 0 for lane in lanes), 0
        while busy and now_s - start_s < seconds and moved_bytes < limit_bytes:
            for number, _ in poll.poll(TIMEOUT_S) or silence():
                lane = by_number[number]
                moved_bytes -= lane.value_bytes
                lane.receive()
                moved_bytes += lane.value_bytes
                busy -= not lane.waiting
            now_s = time.perf_counter()
        load_cpu_s = time.process_time() - cpu_s
    moved = Moved(now_s - start_s, moved_bytes, sum(lane.replies for lane in lanes) - replies, load_cpu_s)
    for lane in lanes:
        while lane.waiting:
            lane.receive(and_send=False)
    return moved


def silence() -> NoReturn:
    raise TimeoutError(f"the broker was silent for {TIMEOUT_S} s")


def close(lanes: Sequence[Lane]) -> None:
    for lane in lanes:
        lane.socket.close()
