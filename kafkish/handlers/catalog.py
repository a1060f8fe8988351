"""Every API that this node serves, in which versions: those of Apache Kafka 4.3.

Its handler is in the module of the same name, which is imported when the first such request comes: a broker that
starts need not read them all.
"""

from typing import Final

from kafkish.handlers.registry import REGISTRY, Served
from kafkish_protocol.api import ApiKey
from kafkish_protocol.versions import parse_versions

CATALOG: Final = {
    ApiKey.PRODUCE: "3-13",
    ApiKey.FETCH: "4-18",
    ApiKey.LIST_OFFSETS: "1-11",
    ApiKey.METADATA: "0-13",
    ApiKey.OFFSET_COMMIT: "2-10",
    ApiKey.OFFSET_FETCH: "1-10",
    ApiKey.FIND_COORDINATOR: "0-6",
    ApiKey.JOIN_GROUP: "0-9",
    ApiKey.HEARTBEAT: "0-4",
    ApiKey.LEAVE_GROUP: "0-5",
    ApiKey.SYNC_GROUP: "0-5",
    ApiKey.DESCRIBE_GROUPS: "0-6",
    ApiKey.LIST_GROUPS: "0-5",
    ApiKey.API_VERSIONS: "0-4",
    ApiKey.CREATE_TOPICS: "2-7",
    ApiKey.DELETE_TOPICS: "1-6",
    ApiKey.DELETE_RECORDS: "0-2",
    ApiKey.INIT_PRODUCER_ID: "0-5",
    ApiKey.OFFSET_FOR_LEADER_EPOCH: "2-4",
    ApiKey.DESCRIBE_CONFIGS: "1-4",
    ApiKey.ALTER_CONFIGS: "0-2",
    ApiKey.DESCRIBE_LOG_DIRS: "1-5",
    ApiKey.CREATE_PARTITIONS: "0-3",
    ApiKey.DELETE_GROUPS: "0-2",
    ApiKey.ELECT_LEADERS: "0-2",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "0-1",
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: "0-1",
    ApiKey.LIST_PARTITION_REASSIGNMENTS: "0",
    ApiKey.OFFSET_DELETE: "0",
    ApiKey.DESCRIBE_QUORUM: "0-2",
    ApiKey.UPDATE_FEATURES: "0-2",
    ApiKey.DESCRIBE_CLUSTER: "0-2",
    ApiKey.DESCRIBE_PRODUCERS: "0",
    ApiKey.UNREGISTER_BROKER: "0",
    ApiKey.LIST_CONFIG_RESOURCES: "0-1",
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: "0",
}

REGISTRY.update({key: Served(key, parse_versions(versions)) for key, versions in CATALOG.items()})
