"""All operations, by API. ListPartitionReassignments and DescribeClientQuotas only read and are not among them."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kafkish.controller.allocate_producer_ids import allocate_producer_ids
from kafkish.controller.alter_client_quotas import alter_client_quotas
from kafkish.controller.alter_configs import alter_configs, incremental_alter_configs
from kafkish.controller.alter_partition import alter_partition
from kafkish.controller.alter_partition_reassignments import alter_partition_reassignments
from kafkish.controller.assign_replicas_to_dirs import assign_replicas_to_dirs
from kafkish.controller.broker_heartbeat import broker_heartbeat
from kafkish.controller.broker_registration import broker_registration
from kafkish.controller.controller_registration import controller_registration
from kafkish.controller.create_partitions import create_partitions
from kafkish.controller.create_topics import create_topics
from kafkish.controller.delete_topics import delete_topics
from kafkish.controller.elect_leaders import elect_leaders
from kafkish.controller.operation import Context, Result
from kafkish.controller.unregister_broker import unregister_broker
from kafkish.controller.update_features import update_features
from kafkish.metadata.image import MetadataImage
from kafkish_protocol.api import ApiKey
from kafkish_protocol.schema import Response

Operation: TypeAlias = Callable[[MetadataImage, Any, Context], Result[Response]]

OPERATIONS: Final[Mapping[ApiKey, Operation]] = {
    ApiKey.CREATE_TOPICS: create_topics,
    ApiKey.DELETE_TOPICS: delete_topics,
    ApiKey.CREATE_PARTITIONS: create_partitions,
    ApiKey.ALTER_CONFIGS: alter_configs,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: incremental_alter_configs,
    ApiKey.ELECT_LEADERS: elect_leaders,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: alter_partition_reassignments,
    ApiKey.ALTER_CLIENT_QUOTAS: alter_client_quotas,
    ApiKey.ALTER_PARTITION: alter_partition,
    ApiKey.UPDATE_FEATURES: update_features,
    ApiKey.BROKER_REGISTRATION: broker_registration,
    ApiKey.BROKER_HEARTBEAT: broker_heartbeat,
    ApiKey.UNREGISTER_BROKER: unregister_broker,
    ApiKey.ALLOCATE_PRODUCER_IDS: allocate_producer_ids,
    ApiKey.CONTROLLER_REGISTRATION: controller_registration,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: assign_replicas_to_dirs,
}
