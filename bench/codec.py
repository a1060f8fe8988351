"""The codec beside its peers: microseconds to read and to write the messages that a broker sees most.

Every library reads the same bytes and writes what it read. Rounds are interleaved and the best round counts, because
these machines are noisy.

    make bench-codec
"""

import argparse
import importlib
import io
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kafkish_protocol.messages import api_versions, fetch, metadata, offset_commit, produce
from kafkish_protocol.schema import Message
from kafkish_protocol.types import Uuid

Work = Callable[[], object]

TOPIC_ID = Uuid(bytes(range(16)))


@dataclass(frozen=True)
class Row:
    """A message of a certain shape."""

    name: str
    message: Message
    version: int


def rows() -> Iterator[Row]:
    records = memoryview(bytes(9_000))
    yield Row("Produce v13 request, 9 kB", produce.ProduceRequest(
        acks=-1, timeout_ms=30_000,
        topic_data=[produce.TopicProduceData(
            topic_id=TOPIC_ID, partition_data=[produce.PartitionProduceData(index=3, records=records)])],
    ), 13)  # fmt: skip
    yield Row("Fetch v18 request, 10 partitions", fetch.FetchRequest(
        max_wait_ms=500, min_bytes=1, max_bytes=50_000_000, session_id=7, session_epoch=1,
        topics=[fetch.FetchTopic(topic_id=TOPIC_ID, partitions=[
            fetch.FetchPartition(partition=n, fetch_offset=1_000_000 * n, partition_max_bytes=1_048_576)
            for n in range(10)])],
    ), 18)  # fmt: skip
    yield Row("Fetch v18 response, 10 partitions", fetch.FetchResponse(
        session_id=7,
        responses=[fetch.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[
            fetch.PartitionData(
                partition_index=n, high_watermark=1_000_000 * n, last_stable_offset=1_000_000 * n, log_start_offset=0,
                aborted_transactions=None, records=memoryview(bytes(1_000)))
            for n in range(10)])],
    ), 18)  # fmt: skip
    yield Row("Metadata v13 response, 1,000 partitions", metadata.MetadataResponse(
        brokers=[metadata.MetadataResponseBroker(node_id=n, host=f"broker-{n}", port=9092) for n in range(3)],
        cluster_id="kafkish-bench-cluster", controller_id=1,
        topics=[metadata.MetadataResponseTopic(name=f"topic-{t}", topic_id=TOPIC_ID, partitions=[
            metadata.MetadataResponsePartition(
                partition_index=n, leader_id=n % 3, leader_epoch=5, replica_nodes=[0, 1, 2], isr_nodes=[0, 1, 2])
            for n in range(10)]) for t in range(100)],
    ), 13)  # fmt: skip
    yield Row("ApiVersions v4 request", api_versions.ApiVersionsRequest(
        client_software_name="apache-kafka-java", client_software_version="4.3.0"), 4)  # fmt: skip
    yield Row("ApiVersions v4 response", api_versions.ApiVersionsResponse(
        api_keys=[api_versions.ApiVersion(api_key=n, max_version=9) for n in range(75)]), 4)  # fmt: skip
    yield Row("OffsetCommit v10 request, 10 partitions", offset_commit.OffsetCommitRequest(
        group_id="group", generation_id_or_member_epoch=3, member_id="member-0123456789",
        topics=[offset_commit.OffsetCommitRequestTopic(topic_id=TOPIC_ID, partitions=[
            offset_commit.OffsetCommitRequestPartition(
                partition_index=n, committed_offset=12_345 * n, committed_leader_epoch=5, committed_metadata="")
            for n in range(10)])],
    ), 10)  # fmt: skip


# -- the libraries: each gives (read, write) or None where it does not know the version


def ours(row: Row, data: bytes) -> tuple[Work, Work]:
    decode, encode = row.message.schema.decoders[row.version], row.message.schema.encoders[row.version]
    message = decode(data)[0]

    def write() -> bytes:
        out = bytearray()
        encode(message, out)
        return bytes(out)

    return lambda: decode(data), write


def interpreted(row: Row, data: bytes) -> tuple[Work, Work]:
    schema = row.message.schema
    message = schema.parse(data, row.version)
    return lambda: schema.parse(data, row.version), lambda: schema.build(message, row.version)


def kafka_python(row: Row, data: bytes) -> tuple[Work, Work] | None:
    from kafka.protocol import consumer, metadata, producer

    name = row.message.schema.name
    kind: Any = next(vars(module)[name] for module in (consumer, metadata, producer) if name in vars(module))
    if not kind.min_version <= row.version <= kind.max_version:
        return None
    message = kind.decode(data, version=row.version)
    message._header = message._min_version = message._max_version = None  # as its own constructor leaves them
    return lambda: kind.decode(data, version=row.version), lambda: message.encode(version=row.version)


def kio(row: Row, data: bytes) -> tuple[Work, Work] | None:
    from kio.serial import entity_reader, entity_writer

    module, _, _ = row.message.__module__.rpartition(".")
    api, kind = row.message.__module__.removeprefix(module + "."), type(row.message).__mro__[1].__name__.lower()
    try:
        schema = importlib.import_module(f"kio.schema.{api}.v{row.version}.{kind}")
    except ModuleNotFoundError:
        return None
    entity = getattr(schema, row.message.schema.name)
    read, write = entity_reader(entity), entity_writer(entity)
    message, _ = read(data, 0)

    def written() -> bytes:
        with io.BytesIO() as out:
            write(out, message)
            return out.getvalue()

    return lambda: read(data, 0), written


def aiokafka(row: Row, data: bytes) -> tuple[Work, Work] | None:
    for module in ("admin", "commit", "fetch", "metadata", "produce"):
        protocol = importlib.import_module(f"aiokafka.protocol.{module}")
        kind = getattr(protocol, f"{row.message.schema.name}_v{row.version}", None)
        if kind is not None:
            message = kind.decode(data)
            return lambda: kind.decode(data), message.encode  # noqa: B023
    return None


def by_hand(row: Row, data: bytes) -> tuple[Work, Work] | None:
    """What a programmer would write for exactly this Produce request: the floor for a reader in Python."""
    if not row.name.startswith("Produce"):
        return None
    return lambda: read_produce_by_hand(data), lambda: None


def read_produce_by_hand(data: bytes) -> object:
    """Produce v13 with lengths of any size and no checks."""
    view = memoryview(data)
    length, position = read_length(data, 0)
    transactional_id = None
    if length >= 0:
        transactional_id = data[position : position + length].decode()
        position += length
    acks, timeout_ms = struct.unpack_from(">hi", data, position)
    topic_count, position = read_length(data, position + 6)
    topics = []
    for _ in range(topic_count):
        topic_id = data[position : position + 16]
        partition_count, position = read_length(data, position + 16)
        partitions = []
        for _ in range(partition_count):
            (index,) = struct.unpack_from(">i", data, position)
            length, position = read_length(data, position + 4)
            partitions.append((index, view[position : position + length]))
            position += length + 1  # no tags
        topics.append((topic_id, partitions))
        position += 1
    return transactional_id, acks, timeout_ms, topics


def read_length(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value - 1, position
        shift += 7


LIBRARIES: dict[str, Callable[[Row, bytes], tuple[Work, Work] | None]] = {
    "kafkish": ours,
    "construct": interpreted,
    "kafka-python": kafka_python,
    "kio": kio,
    "aiokafka": aiokafka,
    "by hand": by_hand,
}


# -- measuring


def best_us(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """Microseconds of one call, the best of interleaved rounds."""
    loops = {name: loops_for(work) for name, work in works.items()}
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            best[name] = min(best[name], timed(work, loops[name]) * 1e6)
    return best


def loops_for(work: Work, target_s: float = 0.02) -> int:
    once = timed(work, 3)
    return max(3, int(target_s / once))


def timed(work: Work, loops: int) -> float:
    start = time.perf_counter()
    for _ in range(loops):
        work()
    return (time.perf_counter() - start) / loops


def check_same_bytes(row: Row, data: bytes, work: tuple[Work, Work], name: str) -> None:
    """A library that writes something else than it read is not measured, it is wrong."""
    written = work[1]()
    if name not in ("by hand",) and bytes(written) != data:  # type: ignore[call-overload]
        print(f"note: {name} writes other bytes than it read for {row.name}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(f"{'microseconds, best of ' + str(options.rounds):48}" + "".join(f"{name:>14}" for name in LIBRARIES))
    for row in rows():
        data = row.message.encode(row.version)
        works = {name: made for name, library in LIBRARIES.items() if (made := library(row, data)) is not None}
        for name, work in works.items():
            check_same_bytes(row, data, work, name)
        for verb, index in (("decode", 0), ("encode", 1)):
            counted = {name: work[index] for name, work in works.items() if (name, verb) != ("by hand", "encode")}
            report(f"{verb} {row.name}", best_us(counted, options.rounds))


def report(title: str, best: dict[str, float]) -> None:
    """A row: each library's time, and after it how many times ours it is."""
    cells = []
    for name in LIBRARIES:
        if name not in best:
            cells.append(f"{'-':>14}")
        elif name == "kafkish":
            cells.append(f"{best[name]:>14.2f}")
        else:
            cells.append(f"{best[name]:.1f} {best[name] / best['kafkish']:.1f}x".rjust(14))
    print(f"{title:48}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
