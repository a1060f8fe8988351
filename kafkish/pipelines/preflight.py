"""Questions to the clusters before a run: do the topics exist, where do they start and end, can the outputs be made."""

import re
from collections.abc import Iterable, Mapping

from kafkish.pipelines.cluster import Cluster, Ends, Topic, cluster
from kafkish.pipelines.context import Context, TopicFacts
from kafkish.pipelines.document import nearest
from kafkish.pipelines.errors import Where
from kafkish.pipelines.model import (
    EARLIEST,
    LATEST,
    BackfillSink,
    MirrorSink,
    Offsets,
    Position,
    TopicSink,
    TopicSource,
)


def look_at_sources(context: Context) -> None:
    """Learn the topics of every source; refuse those that do not exist, and offsets that are not there."""
    for source in context.pipeline.sources:
        if isinstance(source, TopicSource):
            with cluster(context.spark, context.servers(source.bootstrap), source.options) as found:
                context.facts[source.name] = source_facts(found, source)


def source_facts(kafka: Cluster, source: TopicSource) -> TopicFacts:
    """A source's topics, and where its range starts and ends in them."""
    names = list(source.topics) or [name for name in kafka.names() if re.fullmatch(source.pattern, name)]
    if not names:
        raise source.where.error(f"no topic on {kafka.bootstrap} is like {source.pattern}")
    topics = existing(kafka, names, source.where)
    return topic_range(kafka, topics, source.start, source.end or LATEST, source.where)


def topic_range(
    kafka: Cluster, topics: Mapping[str, Topic], start: Position, end: Position, where: Where
) -> TopicFacts:
    """Resolve a range to offsets that exist."""
    for position in (start, end):
        if isinstance(position, Offsets):
            _check_offsets(kafka, topics, position, where)
    return TopicFacts(topics, kafka.offsets(topics, start), kafka.offsets(topics, end))


def existing(kafka: Cluster, names: Iterable[str], where: Where) -> dict[str, Topic]:
    """The topics, all of which must exist."""
    asked = list(names)
    found = kafka.topics(asked)
    for name in asked:
        if name not in found:
            raise where.error(f"there is no topic {name} on {kafka.bootstrap}{nearest(name, kafka.names())}")
    return found


def _check_offsets(kafka: Cluster, topics: Mapping[str, Topic], given: Offsets, where: Where) -> None:
    first, last = kafka.offsets(topics, EARLIEST), kafka.offsets(topics, LATEST)
    for topic, partition, low, high in _edges(first, last):
        offset = given.by_topic.get(topic, {}).get(partition)
        if offset is None:
            raise where.error(f"no offset is given for partition {partition} of {topic}")
        if not low <= offset <= high:
            raise where.error(f"offset {offset} of {topic}, partition {partition}, is not in {low}..{high}")


def _edges(first: Ends, last: Ends) -> Iterable[tuple[str, int, int, int]]:
    return (
        (topic, partition, low, last[topic][partition]) for topic in first for partition, low in first[topic].items()
    )


def prepare_outputs(context: Context) -> None:
    """Make the topics that sinks write to, where they are missing."""
    for sink in context.pipeline.all_sinks:
        if isinstance(sink, TopicSink):
            with cluster(context.spark, context.servers(sink.bootstrap), sink.options) as kafka:
                if not kafka.topics([sink.topic]):
                    kafka.create(sink.topic, sink.partitions)
        elif isinstance(sink, MirrorSink):
            _prepare_mirror(context, sink)


def _prepare_mirror(context: Context, sink: MirrorSink) -> None:
    source = context.pipeline.source(sink.input)
    assert isinstance(source, TopicSource)
    with cluster(context.spark, context.servers(source.bootstrap), source.options) as origin:
        origin_id = origin.id()
    with cluster(context.spark, context.servers(sink.bootstrap), sink.options) as target:
        if not sink.prefix and target.id() == origin_id:
            raise sink.where.error("source and target are the same cluster: the mirror would read what it writes")
        copies = {sink.prefix + name: topic.partitions for name, topic in context.facts[source.name].topics.items()}
        require_partitions(target, copies, sink.where)


def prepare_backfill(context: Context, sink: BackfillSink, partitions: Mapping[str, int]) -> None:
    """Make the topics of a backfill with as many partitions as the archive knows."""
    with cluster(context.spark, context.servers(sink.bootstrap), sink.options) as kafka:
        needed = partitions if sink.same_partitions else dict.fromkeys(partitions, 1)
        require_partitions(kafka, needed, sink.where)


def require_partitions(kafka: Cluster, partitions: Mapping[str, int], where: Where) -> None:
    """Topics with at least so many partitions; missing ones are made."""
    found = kafka.topics(list(partitions))
    for name, count in partitions.items():
        if name not in found:
            kafka.create(name, count)
        elif found[name].partitions < count:
            raise where.error(
                f"{name} has {found[name].partitions} partitions on {kafka.bootstrap}, and the source has {count}; "
                "add partitions to it, or write to another topic"
            )
