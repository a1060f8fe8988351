"""A well-formed request for each API, as JSON with Kafka's field names.

A request names every field that any version has; Kafka's own classes write those that a version knows.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import batches

NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"


def as_kafka_writes(topic_id: UUID) -> str:
    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


@dataclass(frozen=True)
class Names:
    """What the requests are about: a topic with a record, a group without members, one with a static member."""

    topic: str
    topic_id: str
    group: str
    fresh: str
    member: dict[str, Any] = field(default_factory=dict)  # groupId, generationId, memberId, groupInstanceId


@dataclass(frozen=True)
class Asked:
    """A request's body, and the error codes that it may be answered with."""

    body: dict[str, Any]
    errors: frozenset[int] | None = frozenset({0})  # None: any


def asked(*errors: int, **body: Any) -> Asked:
    return Asked(body, frozenset(errors or (0,)))


# -- records


def produce(names: Names) -> Asked:
    records = base64.b64encode(bytes(batches.values(b"value"))).decode()
    topic = {"name": names.topic, "topicId": names.topic_id, "partitionData": [{"index": 0, "records": records}]}
    return asked(transactionalId=None, acks=-1, timeoutMs=20_000, topicData=[topic])


def fetch(names: Names) -> Asked:
    partition = {
        "partition": 0,
        "currentLeaderEpoch": -1,
        "fetchOffset": 0,
        "lastFetchedEpoch": -1,
        "logStartOffset": -1,
        "partitionMaxBytes": 1 << 20,
    }
    topic = {"topic": names.topic, "topicId": names.topic_id, "partitions": [partition]}
    return asked(replicaId=-1, maxWaitMs=0, minBytes=0, maxBytes=1 << 20, sessionId=0, sessionEpoch=0, topics=[topic])


def list_offsets(names: Names) -> Asked:
    partition = {"partitionIndex": 0, "currentLeaderEpoch": -1, "timestamp": -1}
    return asked(replicaId=-1, topics=[{"name": names.topic, "partitions": [partition]}], timeoutMs=20_000)


def offset_for_leader_epoch(names: Names) -> Asked:
    partition = {"partition": 0, "currentLeaderEpoch": -1, "leaderEpoch": 0}
    return asked(replicaId=-2, topics=[{"topic": names.topic, "partitions": [partition]}])


def delete_records(names: Names) -> Asked:
    partition = {"partitionIndex": 0, "offset": 0}
    return asked(topics=[{"name": names.topic, "partitions": [partition]}], timeoutMs=20_000)


def init_producer_id(_: Names) -> Asked:
    return asked(transactionalId=None, transactionTimeoutMs=60_000)


# -- topics


def metadata(names: Names) -> Asked:
    return asked(topics=[{"topicId": NO_ID, "name": names.topic}], allowAutoTopicCreation=False)


def create_topics(names: Names) -> Asked:
    topic = {
        "name": names.fresh,
        "numPartitions": 1,
        "replicationFactor": 1,
        "assignments": [],
        "configs": [{"name": "retention.ms", "value": "-1"}],
    }
    return asked(topics=[topic], timeoutMs=20_000, validateOnly=False)


def delete_topics(names: Names) -> Asked:
    absent = names.fresh
    return asked(3, topics=[{"name": absent, "topicId": NO_ID}], topicNames=[absent], timeoutMs=20_000)


def create_partitions(names: Names) -> Asked:
    return asked(topics=[{"name": names.topic, "count": 5, "assignments": None}], timeoutMs=20_000, validateOnly=True)


def describe_topic_partitions(names: Names) -> Asked:
    return asked(topics=[{"name": names.topic}], responsePartitionLimit=10, cursor=None)


def elect_leaders(names: Names) -> Asked:
    return asked(0, 84, electionType=0, topicPartitions=[{"topic": names.topic, "partitions": [0]}], timeoutMs=20_000)


def alter_partition_reassignments(names: Names) -> Asked:
    topic = {"name": names.topic, "partitions": [{"partitionIndex": 0, "replicas": None}]}
    return asked(0, 85, timeoutMs=20_000, topics=[topic])


def list_partition_reassignments(names: Names) -> Asked:
    return asked(timeoutMs=20_000, topics=[{"name": names.topic, "partitionIndexes": [0]}])


def describe_log_dirs(names: Names) -> Asked:
    return asked(topics=[{"topic": names.topic, "partitions": [0]}])


def describe_producers(names: Names) -> Asked:
    return asked(topics=[{"name": names.topic, "partitionIndexes": [0]}])


# -- configs


def describe_configs(names: Names) -> Asked:
    resource = {"resourceType": 2, "resourceName": names.topic, "configurationKeys": None}
    return asked(resources=[resource], includeSynonyms=True, includeDocumentation=True)


def alter_configs(names: Names) -> Asked:
    configs = [{"name": "retention.ms", "value": "-1"}]
    return asked(resources=[{"resourceType": 2, "resourceName": names.topic, "configs": configs}], validateOnly=True)


def incremental_alter_configs(names: Names) -> Asked:
    configs = [{"name": "retention.ms", "configOperation": 0, "value": "-1"}]
    return asked(resources=[{"resourceType": 2, "resourceName": names.topic, "configs": configs}], validateOnly=True)


# -- groups


def find_coordinator(names: Names) -> Asked:
    return asked(key=names.group, keyType=0, coordinatorKeys=[names.group])


def join_group(names: Names) -> Asked:
    return asked(
        0,
        79,
        groupId=names.fresh,
        sessionTimeoutMs=6000,
        rebalanceTimeoutMs=6000,
        groupInstanceId="static",
        protocolType="consumer",
        protocols=[{"name": "range", "metadata": ""}],
    )


def sync_group(names: Names) -> Asked:
    assignments = [{"memberId": names.member["memberId"], "assignment": ""}]
    protocol = {"protocolType": "consumer", "protocolName": "range"}
    return Asked({**names.member, **protocol, "assignments": assignments})


def heartbeat(names: Names) -> Asked:
    return Asked(dict(names.member), frozenset({0, 27}))


def leave_group(names: Names) -> Asked:
    identity = {"memberId": names.member["memberId"], "groupInstanceId": names.member["groupInstanceId"], "reason": ""}
    member = names.member["memberId"]
    return asked(groupId=names.member["groupId"], memberId=member, members=[identity])


def offset_commit(names: Names) -> Asked:
    partition = {"partitionIndex": 0, "committedOffset": 1, "committedLeaderEpoch": 0, "committedMetadata": "m"}
    topic = {"name": names.topic, "topicId": names.topic_id, "partitions": [partition]}
    return asked(groupId=names.group, generationIdOrMemberEpoch=-1, memberId="", topics=[topic])


def offset_fetch(names: Names) -> Asked:
    topic = {"name": names.topic, "topicId": names.topic_id, "partitionIndexes": [0]}
    group = {"groupId": names.group, "memberId": None, "memberEpoch": -1, "topics": [topic]}
    return asked(groupId=names.group, topics=[topic], groups=[group], requireStable=False)


def offset_delete(names: Names) -> Asked:
    return asked(groupId=names.group, topics=[{"name": names.topic, "partitions": [{"partitionIndex": 0}]}])


def describe_groups(names: Names) -> Asked:
    return asked(groups=[names.group], includeAuthorizedOperations=False)


def list_groups(_: Names) -> Asked:
    return asked(statesFilter=[], typesFilter=[])


def delete_groups(names: Names) -> Asked:
    return asked(69, groupsNames=[names.fresh])


# -- the cluster


def api_versions(_: Names) -> Asked:
    return asked(clientSoftwareName="compat-tests", clientSoftwareVersion="1")


def describe_quorum(_: Names) -> Asked:
    return asked(topics=[{"topicName": "__cluster_metadata", "partitions": [{"partitionIndex": 0}]}])


def update_features(_: Names) -> Asked:
    return asked(timeoutMs=20_000, featureUpdates=[], validateOnly=True)


def describe_cluster(_: Names) -> Asked:
    return asked(includeClusterAuthorizedOperations=True)


def unregister_broker(_: Names) -> Asked:
    return asked(102, brokerId=12345)


def list_config_resources(_: Names) -> Asked:
    return asked(resourceTypes=[])


# -- what needs more than one node, transactions or security: that an answer can be read is all that is asked


def add_partitions_to_txn(names: Names) -> Asked:
    """Kafka never answers version 4 without a transaction in it."""
    topics = [{"name": names.topic, "partitions": [0]}]
    who = {"transactionalId": names.fresh, "producerId": 1, "producerEpoch": 0, "verifyOnly": False, "topics": topics}
    return Asked({"v3AndBelowTransactionalId": names.fresh, "transactions": [who]}, None)


def describe_acls(_: Names) -> Asked:
    """Kafka closes the connection for a filter of unknown type."""
    types = ("resourceTypeFilter", "patternTypeFilter", "operation", "permissionType")
    return Asked(dict.fromkeys(types, 1), None)


def defaults(_: Names) -> Asked:
    return Asked({}, None)


REQUESTS: Final[dict[int, Callable[[Names], Asked]]] = {
    0: produce,
    1: fetch,
    2: list_offsets,
    3: metadata,
    8: offset_commit,
    9: offset_fetch,
    10: find_coordinator,
    11: join_group,
    12: heartbeat,
    13: leave_group,
    14: sync_group,
    15: describe_groups,
    16: list_groups,
    18: api_versions,
    19: create_topics,
    20: delete_topics,
    21: delete_records,
    22: init_producer_id,
    23: offset_for_leader_epoch,
    24: add_partitions_to_txn,
    29: describe_acls,
    32: describe_configs,
    33: alter_configs,
    35: describe_log_dirs,
    37: create_partitions,
    42: delete_groups,
    43: elect_leaders,
    44: incremental_alter_configs,
    45: alter_partition_reassignments,
    46: list_partition_reassignments,
    47: offset_delete,
    55: describe_quorum,
    57: update_features,
    60: describe_cluster,
    61: describe_producers,
    64: unregister_broker,
    74: list_config_resources,
    75: describe_topic_partitions,
}
