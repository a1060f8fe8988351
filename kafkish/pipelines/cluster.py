"""What a pipeline must know of a Kafka cluster: its topics and their ends. Asked through the client that Spark brings.

So the same options (TLS, SASL) that a source gives to Spark's connector serve here.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from kafkish.pipelines.errors import PipelineError
from kafkish.pipelines.model import Edge, Moment, Offsets, Position

TIMEOUT_MS: Final = 15_000

Ends = dict[str, dict[int, int]]
"""Topic -> partition -> offset."""


class ClusterError(PipelineError):
    """What a cluster refused, by the name that Kafka gives it."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is now. A topic that was deleted and made again has another id."""

    name: str
    id: str
    partitions: int


class Cluster:
    """One cluster's administration, as far as pipelines need it."""

    def __init__(self, jvm: Any, bootstrap: str, admin: Any) -> None:
        self._jvm = jvm
        self._admin = admin
        self.bootstrap = bootstrap

    def id(self) -> str:
        """The cluster's id, by which two addresses are known to be one cluster."""
        found: str = self._get(self._admin.describeCluster().clusterId())
        return found

    def names(self) -> list[str]:
        """The topics that are not Kafka's own."""
        return sorted(self._get(self._admin.listTopics().names()))

    def topics(self, names: list[str]) -> dict[str, Topic]:
        """The topics of these names that exist."""
        asked = self._admin.describeTopics(self._list(names)).topicNameValues()
        found = {}
        for name in names:
            try:
                description = self._get(asked.get(name))
            except ClusterError as error:
                if error.kind == "UnknownTopicOrPartition":
                    continue
                raise
            found[name] = Topic(name, description.topicId().toString(), description.partitions().size())
        return found

    def create(self, name: str, partitions: int | None) -> None:
        """Make a topic; the broker's default number of partitions if none is given."""
        optional = self._jvm.java.util.Optional
        count = optional.empty() if partitions is None else optional.of(partitions)
        topic = self._jvm.org.apache.kafka.clients.admin.NewTopic(name, count, optional.empty())
        try:
            self._get(self._admin.createTopics(self._list([topic])).all())
        except ClusterError as error:
            if error.kind != "TopicExists":  # somebody else was faster
                raise

    def offsets(self, topics: Mapping[str, Topic], position: Position) -> Ends:
        """Where a position lies in each partition of the topics."""
        if isinstance(position, Offsets):
            return {topic: dict(position.by_topic[topic]) for topic in topics}
        specs = self._jvm.org.apache.kafka.clients.admin.OffsetSpec
        if isinstance(position, Moment):
            found = self._list_offsets(topics, specs.forTimestamp(position.timestamp_ms))
            ends = self._list_offsets(topics, specs.latest())
            return {
                topic: {partition: ends[topic][partition] if offset < 0 else offset for partition, offset in of.items()}
                for topic, of in found.items()
            }
        return self._list_offsets(topics, specs.earliest() if position == Edge("earliest") else specs.latest())

    def _list_offsets(self, topics: Mapping[str, Topic], spec: Any) -> Ends:
        names = [(topic.name, partition) for topic in topics.values() for partition in range(topic.partitions)]
        make = self._jvm.org.apache.kafka.common.TopicPartition
        asked = self._jvm.java.util.HashMap()
        for name, partition in names:
            asked.put(make(name, partition), spec)
        answers = self._get(self._admin.listOffsets(asked).all())
        found: Ends = {name: {} for name in topics}
        for name, partition in names:
            found[name][partition] = answers.get(make(name, partition)).offset()
        return found

    def _get(self, future: Any) -> Any:
        try:
            return future.get()
        except Py4JJavaError as error:
            cause = error.java_exception.getCause() or error.java_exception
            kind = cause.getClass().getSimpleName().removesuffix("Exception")
            raise ClusterError(kind, f"{self.bootstrap} answered {kind}: {cause.getMessage()}") from None

    def _list(self, items: list[Any]) -> Any:
        made = self._jvm.java.util.ArrayList()
        for item in items:
            made.add(item)
        return made


@contextmanager
def cluster(spark: SparkSession, bootstrap: str, options: Mapping[str, str]) -> Iterator[Cluster]:
    """A connection to a cluster, with the `kafka.` options of a source or sink."""
    jvm: Any = spark.sparkContext._jvm
    properties = jvm.java.util.Properties()
    settings = {
        **{name.removeprefix("kafka."): value for name, value in options.items() if name.startswith("kafka.")},
        "bootstrap.servers": bootstrap,
        "default.api.timeout.ms": str(TIMEOUT_MS),
        "request.timeout.ms": str(TIMEOUT_MS // 2),
    }
    for name, value in settings.items():
        properties.put(name, value)
    try:
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
    except Py4JJavaError as error:
        cause = error.java_exception.getCause() or error.java_exception
        raise PipelineError(f"{bootstrap}: {cause.getMessage()}") from None
    try:
        yield Cluster(jvm, bootstrap, admin)
    finally:
        admin.close()
