"""Which function decides a request to the controller. It is imported when the first such request comes.

Each is in the module of its API's name. ListPartitionReassignments and DescribeClientQuotas only read and are not among
them.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeAlias

from kafkish.controller.operation import Context, Result
from kafkish.metadata.image import MetadataImage
from kafkish_protocol.api import ApiKey
from kafkish_protocol.schema import Response

Operation: TypeAlias = Callable[[MetadataImage, Any, Context], Result[Response]]

OPERATIONS: Final = {
    ApiKey.CREATE_TOPICS: "create_topics",
    ApiKey.DELETE_TOPICS: "delete_topics",
    ApiKey.CREATE_PARTITIONS: "create_partitions",
    ApiKey.ALTER_CONFIGS: "alter_configs",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "alter_configs",
    ApiKey.ELECT_LEADERS: "elect_leaders",
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: "alter_partition_reassignments",
    ApiKey.ALTER_CLIENT_QUOTAS: "alter_client_quotas",
    ApiKey.ALTER_PARTITION: "alter_partition",
    ApiKey.UPDATE_FEATURES: "update_features",
    ApiKey.BROKER_REGISTRATION: "broker_registration",
    ApiKey.BROKER_HEARTBEAT: "broker_heartbeat",
    ApiKey.UNREGISTER_BROKER: "unregister_broker",
    ApiKey.ALLOCATE_PRODUCER_IDS: "allocate_producer_ids",
    ApiKey.CONTROLLER_REGISTRATION: "controller_registration",
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: "assign_replicas_to_dirs",
}
"""API -> module; the function has the API's name."""


@cache
def operation_of(key: ApiKey) -> Operation:
    """The function for an API of the controller."""
    found: Operation = getattr(import_module(f"kafkish.controller.{OPERATIONS[key]}"), key.name.lower())
    return found
