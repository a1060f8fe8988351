"""Values for the fields of requests: mostly right, sometimes odd, sometimes wrong.

A word is looked up as `Api.field`, then as `field`, then by the type of the field. Nothing here may hurt a broker for
good: no request stops a node, moves its directories or changes its features, and no request waits long.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from kafkish.diff.world import World
from kafkish_protocol.stored.consumer_protocol import ConsumerProtocolSubscription
from kafkish_protocol.types import ZERO_UUID, Uuid

Word = Callable[[World, Random], Any]

ODD_TOPICS: Final = (
    "nowhere", "bad name", "", ".", "..", "x" * 249, "x" * 250, "__consumer_offsets", "a.b", "a_b", "ümlaut",
)  # fmt: skip
NO_SUCH_ID: Final = Uuid(b"\x07" * 16)
PARTITIONS: Final = (0, 0, 0, 0, 1, 1, 2, 9, -1)
TOPIC_CONFIGS: Final = {
    "cleanup.policy": ("compact", "delete", "compact,delete", "", "none", "delete,delete"),
    "retention.ms": ("-1", "100000000", "-2", "soon", ""),
    "retention.bytes": ("-1", "1000000000", "1e9"),
    "max.message.bytes": ("1000", "1048588", "0", "-1", "x"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime", "createtime", "Never"),
    "message.timestamp.before.max.ms": ("9223372036854775807", "1000", "-1"),
    "message.timestamp.after.max.ms": ("3600000", "0"),
    "compression.type": ("producer", "uncompressed", "lz4", "zstd", "gzip", "snappy", "brotli"),
    "compression.zstd.level": ("3", "100"),
    "min.insync.replicas": ("1", "2", "0"),
    "segment.bytes": ("1048576", "10", "14"),
    "segment.ms": ("1000000", "0"),
    "min.cleanable.dirty.ratio": ("0.5", "1.5", "half"),
    "unclean.leader.election.enable": ("true", "false", "maybe", "TRUE"),
    "flush.messages": ("1", "0"),
    "file.delete.delay.ms": ("60000", "-1"),
    "preallocate": ("false", "yes"),
    "local.retention.ms": ("-2", "-3", "1000000000000"),
    "remote.storage.enable": ("false", "true"),
    "leader.replication.throttled.replicas": ("", "*", "0:1,1:1", "0"),
    "no.such.config": ("1",),
    "": ("1",),
}
BROKER_CONFIGS: Final = (
    "message.max.bytes", "log.retention.ms", "log.cleaner.threads", "node.id", "num.io.threads", "listeners",
    "log.segment.bytes", "compression.type", "no.such.config", "background.threads", "min.insync.replicas",
    "ssl.keystore.password", "log.cleaner.backoff.ms", "max.connections", "group.max.size",
)  # fmt: skip
GROUP_CONFIGS: Final = (
    "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms", "share.record.lock.duration.ms",
    "streams.num.standby.replicas", "no.such.config", "share.auto.offset.reset",
)  # fmt: skip
LOGGERS: Final = ("root", "kafka", "org.apache.kafka", "no.such.logger")


def one_of(*values: Any) -> Word:
    return lambda _world, random: random.choice(values)


def topic_name(world: World, random: Random) -> str:
    known = sorted(world.topics)
    return random.choice(known) if known and random.random() < 0.85 else random.choice(ODD_TOPICS)


def new_topic_name(world: World, random: Random) -> str:
    return f"t{world.tag}-{random.randrange(8)}" if random.random() < 0.8 else topic_name(world, random)


def deleted_topic_name(world: World, random: Random) -> str:
    return topic_name(world, random) if len(world.topics) > 5 else random.choice(ODD_TOPICS[:7])


def topic_id(world: World, random: Random) -> Uuid:
    ids = [world.topics[name].id for name in sorted(world.topics)]
    return random.choice(ids) if ids and random.random() < 0.85 else random.choice((ZERO_UUID, NO_SUCH_ID))


def deleted_topic_id(world: World, random: Random) -> Uuid:
    return topic_id(world, random) if len(world.topics) > 5 else random.choice((ZERO_UUID, NO_SUCH_ID))


def group_name(world: World, random: Random) -> str:
    return random.choice(world.group_names()) if random.random() < 0.85 else random.choice(("nobody", "", "g g", "g0"))


def member_id(world: World, random: Random) -> str:
    known = [each.id for each in world.members if each.id]
    return random.choice(known) if known and random.random() < 0.6 else random.choice(("", "", "nobody"))


def leaving_member_id(world: World, random: Random) -> str:
    known = [each.id for each in world.members if each.id and world.may_leave(each)]
    return random.choice(known) if known and random.random() < 0.3 else random.choice(("", "", "nobody"))


def producer_id(world: World, random: Random) -> int:
    known = [each.id for each in world.producers]
    return random.choice(known) if known and random.random() < 0.7 else random.choice((-1, -1, 0, 5, -2))


def subscription(world: World, random: Random) -> bytes:
    """What a consumer wants to read; sometimes cut short, but never in a list: over that Kafka forgets its group."""
    version = random.choice((0, 1, 3))
    made = ConsumerProtocolSubscription(topics=[topic_name(world, random)])
    whole = version.to_bytes(2, "big") + made.encode(version)
    return random.choice((whole, whole, whole, whole, b"", b"\0", whole[:5]))


def timestamp(world: World, random: Random) -> int:
    return random.choice((-1, -1, -2, -3, -4, -5, -6, -7, 0, world.base_ms + random.randrange(-500, 2000)))


def config_name(_world: World, random: Random) -> str:
    return random.choice((*TOPIC_CONFIGS, *random.choices((*BROKER_CONFIGS, *GROUP_CONFIGS, *LOGGERS), k=8)))


WORDS: Final[dict[str, Word]] = {
    # what requests are about
    "topic": topic_name, "topic_name": topic_name, "topic_names": deleted_topic_name, "topic_id": topic_id,
    "partition": one_of(*PARTITIONS), "partition_index": one_of(*PARTITIONS), "index": one_of(*PARTITIONS),
    "partitions": one_of(*PARTITIONS), "partition_indexes": one_of(*PARTITIONS),
    "group_id": group_name, "groups": group_name, "groups_names": group_name, "key": group_name,
    "coordinator_keys": group_name, "member_id": member_id, "LeaveGroup.member_id": leaving_member_id,
    "group_instance_id": one_of(None, None, None, "i1", ""),
    "producer_id": producer_id, "producer_epoch": one_of(0, 0, 1, -1), "transactional_id": one_of(None, None, ""),
    "broker_id": one_of(7, 99, -1), "broker_ids": one_of(1, 1, 1, 2, -1), "replicas": one_of(1, 1, 1, 2, -1),
    "replica_id": one_of(-1, -1, -1, -1, -2),
    "ListOffsets.replica_id": one_of(-1, -1, -1, -2, 7), "cluster_id": one_of(None),
    # offsets and times
    "committed_offset": one_of(0, 1, 5, 1000, -1, -2, 2**62), "offset": one_of(-1, 0, 1, 1, 2, 5, 1000, -2),
    "fetch_offset": one_of(0, 0, 0, 1, 2, 5, 20, 1000, -1), "log_start_offset": one_of(-1, 0),
    "timestamp": timestamp, "retention_time_ms": one_of(-1, 1_000_000_000),
    "committed_metadata": one_of("", "m", None, "m" * 4096),
    "current_leader_epoch": one_of(-1, -1, -1, 0, 0, 1, 5), "leader_epoch": one_of(0, 0, -1, 1, 5, -2),
    "committed_leader_epoch": one_of(-1, 0, 3), "last_fetched_epoch": one_of(-1, -1, 0, 5),
    "generation_id": one_of(-1, 0, 1, 1, 2), "generation_id_or_member_epoch": one_of(-1, -1, 0, 1),
    "member_epoch": one_of(-1, -1, 0),
    "session_timeout_ms": one_of(1_800_000, 1_800_000, 1_800_000, 0, 5_999, 1_800_001, -1),
    "rebalance_timeout_ms": one_of(1_800_000, 1_800_000, 1_800_000, -1), "max_wait_ms": one_of(0, 0, 0, 10),
    "min_bytes": one_of(0, 1, 1, 5000),
    "max_bytes": one_of(2**31 - 1, 2**31 - 1, 100, 0, 1 << 20),
    "partition_max_bytes": one_of(1 << 20, 1 << 20, 1, 0, 300),
    "isolation_level": one_of(0, 0, 1), "session_id": one_of(0, 0, 0, 5), "session_epoch": one_of(-1, -1, -1, 0, 1),
    "timeout_ms": one_of(5_000), "acks": one_of(-1, -1, 1, 1, 0, 2), "transaction_timeout_ms": one_of(60_000, 0, -1),
    "rack_id": one_of("", "r1"), "high_watermark": one_of(2**63 - 1),
    # names
    "protocol_type": one_of("consumer", "consumer", "consumer", "connect", ""),
    "JoinGroup.name": one_of("range", "range", "roundrobin", ""), "metadata": subscription,
    "protocol_name": one_of("range", "range", "none", None), "key_type": one_of(0, 0, 0, 9),
    "DescribeConfigs.resource_type": one_of(2, 2, 2, 2, 4, 8, 16, 32, 3, 0),
    "resource_type": one_of(2, 2, 2, 2, 4, 8, 16, 32, 3),  # to Kafka, 3 and 0 are one type, and a thing comes once
    "resource_types": one_of(2, 4, 8, 16, 32, 3, 0),
    "resource_name": lambda world, random: random.choice((topic_name(world, random), "", "1", "2", "x", "g0")),
    "configuration_keys": config_name, "election_type": one_of(0, 0, 1, 2), "endpoint_type": one_of(1, 1, 0, 2, 3),
    "states_filter": one_of("Stable", "Empty", "stable", "Unknown", "Dead", ""),
    "types_filter": one_of("classic", "Classic", "consumer", "x"),
    "feature": one_of("metadata.version", "no.such.feature", "group.version", "kraft.version"),
    "max_version_level": one_of(0, 1, 99, -1),
    "upgrade_type": one_of(1, 1, 2, 3, 0, 9), "client_software_name": one_of("diff", "bad name", ""),
    "client_software_version": one_of("1", "", "-"), "reason": one_of(None, "r", ""),
    "response_partition_limit": one_of(2000, 1, 2, 0, -1), "validate_only": one_of(True, False),
    # topics
    "CreateTopics.name": new_topic_name, "CreatePartitions.name": topic_name, "name": topic_name,
    "DeleteTopics.name": deleted_topic_name, "DeleteTopics.topic_id": deleted_topic_id,
    "num_partitions": one_of(1, 1, 2, 3, -1, 0, -2), "count": one_of(1, 2, 3, 4, 0, -1),
    "replication_factor": one_of(1, 1, 1, -1, 0, 2, -2), "config_operation": one_of(0, 0, 0, 1, 2, 3, 4),
    "UpdateFeatures.validate_only": one_of(True),
}  # fmt: skip
