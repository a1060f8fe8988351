"""What AlterConfigs and IncrementalAlterConfigs check besides names and values: who may, on what, and when."""

from collections.abc import Mapping
from typing import Final

from kafkish.controller.errors import standard_error
from kafkish.controller.operation import ApiError, Context
from kafkish.controller.ports import CLUSTER_NAME, AclOperation, AclResource
from kafkish.metadata.image import ConfigResource, MetadataImage, ResourceType
from kafkish.metadata.versions import CORDONED_DIRECTORIES
from kafkish_protocol.error_codes import ErrorCode

MIN_ISR: Final = "min.insync.replicas"
CORDONED_LOG_DIRS: Final = "cordoned.log.dirs"

_AUTHORIZE: Final = {
    ResourceType.TOPIC: (AclResource.TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    ResourceType.GROUP: (AclResource.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
    ResourceType.BROKER: (AclResource.CLUSTER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
    ResourceType.CLIENT_METRICS: (AclResource.CLUSTER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
}


def check_resource(resource: ConfigResource, context: Context) -> None:
    """Refuse what has no configs in the metadata, such as loggers, and who may not change them."""
    if resource.type not in _AUTHORIZE:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.type}")
    kind, error = _AUTHORIZE[ResourceType(resource.type)]
    name = CLUSTER_NAME if kind is AclResource.CLUSTER else resource.name
    if not context.authorize(AclOperation.ALTER_CONFIGS, kind, name):
        raise standard_error(error)


def check_exists(image: MetadataImage, resource: ConfigResource, context: Context) -> None:
    """Refuse configs of a topic or node that is not there. Groups may come later."""
    if resource.type == ResourceType.TOPIC and resource.name not in image.topics.by_name:
        message = f"The topic '{resource.name}' does not exist."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    if resource.type == ResourceType.BROKER and resource.name:
        nodes = {*image.brokers, *image.controllers, *context.settings.voter_ids}
        if resource.name not in map(str, nodes):
            raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No node with id {resource.name} found.")


def check_changes(
    image: MetadataImage, resource: ConfigResource, changes: Mapping[str, str | None], context: Context
) -> None:
    """Refuse what a broker may not have in the present state of the cluster."""
    if resource.type != ResourceType.BROKER:
        return
    if MIN_ISR in changes and image.features.elr_enabled:
        if resource.name:
            raise _refusal(f"Broker-level {MIN_ISR} cannot be altered while ELR is enabled.")
        if changes[MIN_ISR] is None:
            raise _refusal(f"Cluster-level {MIN_ISR} cannot be removed while ELR is enabled.")
    if CORDONED_LOG_DIRS in changes:
        present = image.config(*resource).get(CORDONED_LOG_DIRS)
        check_cordoned(image, changes[CORDONED_LOG_DIRS], present, context)


def check_cordoned(image: MetadataImage, wanted: str | None, present: str | None, context: Context) -> None:
    """The controller knows no paths: unless a broker has looked at them, directories can only be freed (KIP-1066)."""
    if image.metadata_version < CORDONED_DIRECTORIES:
        raise _refusal(
            f"The {CORDONED_LOG_DIRS} configuration value cannot be set because it requires metadata.version >= 4.3-IV0"
        )
    new, old = ({part.strip() for part in (value or "").split(",")} for value in (wanted, present))
    if not context.through_broker and not new - {""} <= old:
        raise _refusal(
            f"When updating {CORDONED_LOG_DIRS} via controllers,  the new value must be a subset of the current "
            "configuration value."
        )


def _refusal(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_CONFIG, reason)
