"""Requests as frames, made before they are needed, and a plain connection for what is not measured."""

import random
import socket
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from bench.versus.brokers import FIRST_REQUEST
from kafkish_protocol.api import ApiKey, request_header_version, response_class, response_header_version
from kafkish_protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafkish_protocol.messages.headers import RequestHeader, ResponseHeader
from kafkish_protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkish_protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkish_protocol.records import Compression, Record, build_batch
from kafkish_protocol.schema import Request
from kafkish_protocol.types import Uuid

VERSIONS: Final = {
    ApiKey.PRODUCE: 13, ApiKey.FETCH: 17, ApiKey.LIST_OFFSETS: 10, ApiKey.CREATE_TOPICS: 7, ApiKey.DELETE_TOPICS: 6,
    ApiKey.JOIN_GROUP: 9, ApiKey.SYNC_GROUP: 5, ApiKey.FIND_COORDINATOR: 6,
}  # fmt: skip
"""Those that the Java client of Kafka 4.3 uses."""

TIMEOUT_S: Final = 60
LATEST: Final = -1


class Topic(NamedTuple):
    """A topic by both its names."""

    name: str
    id: Uuid
    partitions: int


class Batch(NamedTuple):
    """A record batch as a producer sends it, and what is in it."""

    data: bytes
    records: int
    value_bytes: int


def frame(request: Request) -> bytes:
    """The request with its header and length."""
    assert request.schema.api_key is not None
    key = ApiKey(request.schema.api_key)
    version = VERSIONS[key]
    header = RequestHeader(
        request_api_key=key, request_api_version=version, correlation_id=1, client_id="kafkish-bench"
    )
    data = header.encode(request_header_version(key, version)) + request.encode(version)
    return len(data).to_bytes(4, "big") + data


def decoded(key: ApiKey, reply: bytes | bytearray, start: int = 0) -> Any:
    """The response in a frame whose header begins at `start`."""
    version = VERSIONS[key]
    _, body = ResponseHeader.schema.decoders[response_header_version(key, version)](reply, start)
    return response_class(key).decode(reply, version, body)


# -- what the load is made of


def make_batch(value_bytes: int, batch_bytes: int, codec: str = "none") -> Batch:
    """As many records as a batch of this size takes, at least one. Half of a value is noise, as in many logs."""
    count = max(1, batch_bytes // (value_bytes + 12))
    dice, now_ms = random.Random(value_bytes), int(time.time() * 1000)
    values = [dice.randbytes(value_bytes // 4).hex().encode().ljust(value_bytes, b".") for _ in range(count)]
    records = [Record(number, now_ms, None, value) for number, value in enumerate(values)]
    data = bytes(build_batch(records, compression=Compression[codec.upper()]))
    return Batch(data, count, count * value_bytes)


def produce_frame(topic: Topic, partitions: Sequence[int], batch: Batch, acks: int) -> bytes:
    """One batch to each of some partitions."""
    data = [PartitionProduceData(index=index, records=memoryview(batch.data)) for index in partitions]
    topics = [TopicProduceData(topic_id=topic.id, partition_data=data)]
    return frame(ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=topics))


def fetch_request(topic: Topic, offsets: dict[int, int], max_bytes: int, max_wait_ms: int = 500) -> FetchRequest:
    """All these partitions, outside of a session."""
    partitions = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=max_bytes)
        for index, offset in offsets.items()
    ]
    topics = [FetchTopic(topic_id=topic.id, partitions=partitions)]
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=50 << 20, topics=topics)


# -- connections


def connect(address: str) -> socket.socket:
    """A connection that the broker has accepted and spoken on, as after a client's first request."""
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(FIRST_REQUEST)
    read(connection, int.from_bytes(read(connection, 4), "big"))
    return connection


def read(connection: socket.socket, size_bytes: int) -> bytes:
    """Not a byte more than that: what follows must be seen by `select`."""
    data = connection.recv(size_bytes)
    while len(data) < size_bytes:
        if not (more := connection.recv(size_bytes - len(data))):
            raise ConnectionError("the broker closed a connection of the bench")
        data += more
    return data


class Wire:
    """A connection on which each request waits for its answer."""

    def __init__(self, address: str) -> None:
        self.socket = connect(address)

    def ask(self, request: Request) -> Any:
        self.socket.sendall(frame(request))
        return self.answer(ApiKey(request.schema.api_key or 0))

    def answer(self, key: ApiKey) -> Any:
        return decoded(key, self.frame())

    def frame(self) -> bytes:
        """The next reply, without its length."""
        return read(self.socket, int.from_bytes(read(self.socket, 4), "big"))

    def create(self, name: str, partitions: int, **configs: str) -> Topic:
        settings = [CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, configs=settings)
        [result] = self.ask(CreateTopicsRequest(topics=[topic])).topics
        assert result.error_code == 0, result
        created = Topic(name, result.topic_id, partitions)
        self.wait_for(created)
        return created

    def wait_for(self, topic: Topic) -> None:
        """A new topic's leader may need a moment."""
        deadline_s = time.monotonic() + TIMEOUT_S
        while min(self.end_offsets(topic)) < 0 and time.monotonic() < deadline_s:
            time.sleep(0.01)

    def end_offsets(self, topic: Topic) -> list[int]:
        """How many records each partition has; -1 for one that does not answer."""
        partitions = [ListOffsetsPartition(partition_index=n, timestamp=LATEST) for n in range(topic.partitions)]
        topics = [ListOffsetsTopic(name=topic.name, partitions=partitions)]
        [answer] = self.ask(ListOffsetsRequest(replica_id=-1, topics=topics)).topics
        return [part.offset if part.error_code == 0 else -1 for part in answer.partitions]

    def delete(self, topic: Topic) -> None:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=topic.id)], timeout_ms=30_000)
        [result] = self.ask(request).responses
        assert result.error_code == 0, result

    def close(self) -> None:
        self.socket.close()
