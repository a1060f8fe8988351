"""Which configs a resource may have: the checks of AlterConfigs, IncrementalAlterConfigs and CreateTopics."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from kafkish.controller.operation import ApiError, Context
from kafkish.controller.ports import CLUSTER_NAME, AclOperation, AclResource
from kafkish.controller.topic_names import why_invalid
from kafkish.metadata.image import ConfigResource, MetadataImage, ResourceType
from kafkish.metadata.versions import CORDONED_DIRECTORIES
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages import alter_configs as legacy
from kafkish_protocol.messages import incremental_alter_configs as incremental
from kafkish_protocol.stored.metadata_settings import ConfigRecord

MIN_ISR: Final = "min.insync.replicas"
CORDONED_LOG_DIRS: Final = "cordoned.log.dirs"
MAX_VALUE_LENGTH: Final = 32_767
DELETE: Final = 1
"""The incremental change that needs no value."""

AnyResource: TypeAlias = legacy.AlterConfigsResource | incremental.AlterConfigsResource

_AUTHORIZE: Final = {
    ResourceType.TOPIC: (AclResource.TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    ResourceType.GROUP: (AclResource.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
    ResourceType.BROKER: (AclResource.CLUSTER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
    ResourceType.CLIENT_METRICS: (AclResource.CLUSTER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
}

_CODE_OF_PROBLEM: Final[Mapping[int, ErrorCode]] = {
    ResourceType.BROKER: ErrorCode.INVALID_REQUEST,  # for the sake of old clients (KAFKA-13609)
    ResourceType.CLIENT_METRICS: ErrorCode.INVALID_REQUEST,
}

_NODE_ID: Final = re.compile(r"-?(0|[1-9][0-9]{0,9})")


def check_request(resource: AnyResource, context: Context) -> None:
    """Refuse what makes no sense whatever the values are, and who may not."""
    names = [config.name for config in resource.configs]
    if len(set(names)) < len(names):
        raise ApiError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [c.name for c in resource.configs if c.value is None and getattr(c, "config_operation", 0) != DELETE]
    if nulls:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Null value not supported for : " + ", ".join(nulls))
    if resource.resource_type not in _AUTHORIZE:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.resource_type}")
    if resource.resource_type == ResourceType.BROKER and resource.resource_name:
        _check_broker_name(resource.resource_name, context.receiving_broker_id)
    acl_resource, error = _AUTHORIZE[ResourceType(resource.resource_type)]
    acl_name = CLUSTER_NAME if acl_resource is AclResource.CLUSTER else resource.resource_name
    if not context.authorize(AclOperation.ALTER_CONFIGS, acl_resource, acl_name):
        raise ApiError(error)


def _check_broker_name(name: str, receiver: int | None) -> None:
    """A broker's own configs are changed through that broker: it knows whether it can take them."""
    if not _NODE_ID.fullmatch(name):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if receiver is not None and int(name) != receiver:
        message = f"Unexpected broker id, expected {receiver}, but received {name}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    if int(name) < 0:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Invalid negative broker ID.")


def check_values(
    image: MetadataImage, resource: ConfigResource, records: Sequence[ConfigRecord], context: Context
) -> None:
    """Refuse values that the resource, as it would be then, may not have."""
    present = image.config(*resource)
    values = dict(present)
    for record in records:
        _check_record(image, record, present, context)
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value
    if resource.type == ResourceType.TOPIC and (reason := why_invalid(resource.name)) is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
    if resource.type == ResourceType.GROUP and not resource.name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    problem = context.configs.check(resource.type, values, present)
    if problem is not None:
        raise ApiError(_CODE_OF_PROBLEM.get(resource.type, ErrorCode.INVALID_CONFIG), problem)


def _check_record(image: MetadataImage, record: ConfigRecord, present: Mapping[str, str], context: Context) -> None:
    """What does not depend on the other values."""
    broker = record.resource_type == ResourceType.BROKER
    if broker and record.name == MIN_ISR and image.features.elr_enabled:
        if record.resource_name:
            raise _refusal(f"Broker-level {MIN_ISR} cannot be altered while ELR is enabled.")
        if record.value is None:
            raise _refusal(f"Cluster-level {MIN_ISR} cannot be removed while ELR is enabled.")
    if broker and record.name == CORDONED_LOG_DIRS:
        _check_cordoned(image, record, present, context)
    if record.value is not None and len(record.value) > MAX_VALUE_LENGTH:
        raise _refusal(
            "The configuration value cannot be added because it exceeds the maximum value size of "
            f"{MAX_VALUE_LENGTH} bytes."
        )


def _check_cordoned(image: MetadataImage, record: ConfigRecord, present: Mapping[str, str], context: Context) -> None:
    """The controller knows no paths: without a broker that has looked, directories can only be freed (KIP-1066)."""
    if image.metadata_version < CORDONED_DIRECTORIES:
        raise _refusal(
            f"The {CORDONED_LOG_DIRS} configuration value cannot be set because it requires metadata.version >= 4.3-IV0"
        )
    wanted = {part.strip() for part in (record.value or "").split(",")} - {""}
    cordoned = {part.strip() for part in present.get(CORDONED_LOG_DIRS, "").split(",")}
    if context.receiving_broker_id is None and not wanted <= cordoned:
        raise _refusal(
            f"When updating {CORDONED_LOG_DIRS} via controllers,  the new value must be a subset of the current "
            "configuration value."
        )


def _refusal(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_CONFIG, reason)


def check_exists(image: MetadataImage, resource: ConfigResource, context: Context) -> None:
    """Refuse configs of a topic or node that is not there. Groups may come later."""
    if resource.type == ResourceType.TOPIC and resource.name not in image.topics.by_name:
        message = f"The topic '{resource.name}' does not exist."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    if resource.type == ResourceType.BROKER and resource.name:
        node = int(resource.name)
        if node not in image.brokers and node not in image.controllers and node not in context.settings.voter_ids:
            raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No node with id {node} found.")
