"""One request to a running Apache Kafka and to our operation, on the same metadata: answers and records compared."""

import random
from pathlib import Path
from typing import Any, TypeAlias

from kafkish.config.properties import parse_properties
from kafkish.controller.features import KAFKA_FEATURES
from kafkish.controller.node_configs import NodeConfigPort
from kafkish.controller.operation import Context, Settings
from kafkish.controller.operations import operation_of
from kafkish.controller.sessions import Sessions
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.records import encode_record, record_version
from kafkish.tests.metadata.kafka_log import LogFollower
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.create_topics import CreateTopicsResponse
from kafkish_protocol.schema import MetadataRecord, Request, Response, Struct
from kafkish_protocol.stored.metadata_nodes import RegisterBrokerRecord
from kafkish_protocol.stored.metadata_topics import TopicRecord
from kafkish_protocol.stored.metadata_transactions import NoOpRecord
from kafkish_protocol.tests.raw_client import RawClient
from kafkish_protocol.types import ZERO_UUID, Uuid

Stored: TypeAlias = tuple[MetadataRecord, int]


class Oracle:
    """A running Kafka, and the image that its metadata log makes."""

    def __init__(self, port: int, directory: Path) -> None:
        """`directory` is where that Kafka was started."""
        self.port, self.log = port, LogFollower(directory / "data" / "__cluster_metadata-0")
        self.log.catch_up()
        self.settings = Settings("kafkish-oracle-cluster", 1, frozenset({1}), KAFKA_FEATURES)
        self.sessions = Sessions(timeout_ms=3_600_000)
        properties = (directory / "server.properties").read_text(encoding="latin-1")
        self.configs = NodeConfigPort({name: value for name, value, _ in parse_properties(properties)})
        self.differences: list[str] = []
        self.compared = 0

    @property
    def image(self) -> MetadataImage:
        """What Kafka's metadata was after the last request."""
        return self.log.image

    def send(self, request: Request, version: int) -> Any:
        with RawClient(self.port) as client:
            return client.send(request, version)

    def compare(self, request: Request, version: int | None = None, *, messages: bool = True) -> Any:
        """Ask both; note where they differ; go on with what Kafka has written. Returns our answer."""
        version = request.schema.versions.high if version is None else version
        assert not but_ticks(self.log.catch_up()), "someone else writes"
        before = self.image
        theirs = self.send(request, version)
        written = but_ticks(self.log.catch_up())
        operation = operation_of(ApiKey(request.schema.api_key or 0))
        result = operation(before, request, self.context(version, written, theirs))
        records = [(record, record_version(record, before.metadata_version)) for record in result.records]
        ours = type(theirs).decode(result.response.encode(version), version)
        self.compared += 1
        self.note(request, version, comparable(ours, messages), comparable(theirs, messages))
        self.note(request, version, in_one_order(records), in_one_order(written))
        return ours

    def assert_nothing_differs(self) -> int:
        """Fail with all differences that were noted. Returns how many requests were compared since the last time."""
        differences, compared = self.differences, self.compared
        self.differences, self.compared = [], 0
        assert not differences, "\n".join(differences)
        return compared

    def context(self, version: int, written: list[Stored], theirs: Response) -> Context:
        """What Kafka drew and chose, as far as its records tell, and its answer where it only validates."""
        drawn = [record.topic_id for record, _ in written if isinstance(record, TopicRecord)]
        if not drawn and isinstance(theirs, CreateTopicsResponse):
            drawn = [topic.topic_id for topic in theirs.topics if topic.topic_id != ZERO_UUID]
        ids = iter(drawn)
        epochs = [record.broker_epoch for record, _ in written if isinstance(record, RegisterBrokerRecord)]
        return Context(
            settings=self.settings,
            configs=self.configs,
            dice=random.Random(1),
            new_uuid=lambda: next(ids, Uuid(b"x" * 16)),
            api_version=version,
            next_offset=epochs[0] if epochs else -1,
            kraft_version=0,
            sessions=self.sessions,
        )

    def note(self, request: Request, version: int, ours: Any, theirs: Any) -> None:
        if ours != theirs:
            where = f"{request.schema.name} version {version}: {request}"
            self.differences.append(f"{where}\n   ours: {ours}\n  Kafka: {theirs}")


def but_ticks(records: list[Stored]) -> list[Stored]:
    """A NoOpRecord is Kafka's clock ticking."""
    return [(record, version) for record, version in records if not isinstance(record, NoOpRecord)]


def in_one_order(records: list[Stored]) -> list[Stored]:
    return sorted(records, key=lambda record: encode_record(*record))


def comparable(value: Any, messages: bool = True) -> Any:
    """A response as plain values; the order of rows is that of Java's hash tables and says nothing."""
    if isinstance(value, Struct):
        names = [field.name for field in value.schema.fields]
        kept = [name for name in names if messages or name != "error_message"]
        return {name: comparable(getattr(value, name), messages) for name in kept}
    if isinstance(value, list):
        rows = [comparable(row, messages) for row in value]
        return sorted(rows, key=repr) if rows and isinstance(rows[0], dict) else rows
    return value
