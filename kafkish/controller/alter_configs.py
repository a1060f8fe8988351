"""AlterConfigs (33) and IncrementalAlterConfigs (44): configs of topics, brokers, groups and client metrics.

- AlterConfigs replaces all configs of a resource; what it does not name is removed. IncrementalAlterConfigs (KIP-339)
  sets, deletes, appends to and subtracts from single ones. Which values there can be is the config port's affair.
- A resource is changed as a whole or not at all; others in the request are not concerned.
- A new `min.insync.replicas` makes eligible leader replicas meaningless: they are cleared (KIP-966).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from kafkish.controller.config_checks import MIN_ISR, check_changes, check_exists, check_resource
from kafkish.controller.operation import ApiError, Context, Result, check_size
from kafkish.controller.ports import ConfigChange
from kafkish.metadata.image import ConfigResource, MetadataImage, ResourceType
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages import alter_configs as legacy
from kafkish_protocol.messages import incremental_alter_configs as incremental
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_settings import ConfigRecord
from kafkish_protocol.stored.metadata_topics import ClearElrRecord

ResourceT = TypeVar("ResourceT", legacy.AlterConfigsResource, incremental.AlterConfigsResource)

SET: Final = 0
_NO_ERROR: Final = ApiError(ErrorCode.NONE)


def alter_configs(
    image: MetadataImage, request: legacy.AlterConfigsRequest, context: Context
) -> Result[legacy.AlterConfigsResponse]:
    """Replace the configs of each resource."""

    def propose(asked: legacy.AlterConfigsResource, resource: ConfigResource) -> Mapping[str, str | None]:
        values = [(config.name, config.value) for config in asked.configs]
        return context.configs.replace(image.configs, resource, values)

    records, errors = alter_each(image, request.resources, context, propose)
    rows = [
        legacy.AlterConfigsResourceResponse(
            error_code=error.code,
            error_message=error.message,
            resource_type=asked.resource_type,
            resource_name=asked.resource_name,
        )
        for asked, error in zip(request.resources, errors, strict=True)
    ]
    return Result([] if request.validate_only else records, legacy.AlterConfigsResponse(responses=rows))


def incremental_alter_configs(
    image: MetadataImage, request: incremental.IncrementalAlterConfigsRequest, context: Context
) -> Result[incremental.IncrementalAlterConfigsResponse]:
    """Change single configs of each resource."""

    def propose(asked: incremental.AlterConfigsResource, resource: ConfigResource) -> Mapping[str, str | None]:
        changes = [ConfigChange(config.name, config.config_operation, config.value) for config in asked.configs]
        return context.configs.alter(image.configs, resource, changes)

    records, errors = alter_each(image, request.resources, context, propose)
    rows = [
        incremental.AlterConfigsResourceResponse(
            error_code=error.code,
            error_message=error.message,
            resource_type=asked.resource_type,
            resource_name=asked.resource_name,
        )
        for asked, error in zip(request.resources, errors, strict=True)
    ]
    response = incremental.IncrementalAlterConfigsResponse(responses=rows)
    return Result([] if request.validate_only else records, response)


def new_topic_configs(
    image: MetadataImage, topic: str, values: Mapping[str, str], context: Context
) -> list[MetadataRecord]:
    """Records for the configs of a topic that is being created."""
    if not values:
        return []
    resource = ConfigResource(ResourceType.TOPIC, topic)
    changes = context.configs.alter(
        image.configs, resource, [ConfigChange(name, SET, value) for name, value in values.items()]
    )
    records = config_records(resource, changes)
    return [*records, *cleared_elr(image, records)]


def alter_each(
    image: MetadataImage,
    asked: Sequence[ResourceT],
    context: Context,
    propose: Callable[[ResourceT, ConfigResource], Mapping[str, str | None]],
) -> tuple[list[MetadataRecord], list[ApiError]]:
    """Records of all resources that can be changed, and the error of each."""
    resources = [ConfigResource(each.resource_type, each.resource_name) for each in asked]
    counts = Counter(resources)
    records: list[ConfigRecord] = []
    errors = []
    for each, resource in zip(asked, resources, strict=True):
        try:
            if counts[resource] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            check_resource(resource, context)
            changes = propose(each, resource)
            check_changes(image, resource, changes, context)
            check_exists(image, resource, context)
            check_size(len(records) + len(changes))
        except ApiError as error:
            errors.append(error)
        else:
            records += config_records(resource, changes)
            errors.append(_NO_ERROR)
    return [*records, *cleared_elr(image, records)], errors


def config_records(resource: ConfigResource, changes: Mapping[str, str | None]) -> list[ConfigRecord]:
    """The records of a resource's new values."""
    return [
        ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value)
        for name, value in changes.items()
    ]


def cleared_elr(image: MetadataImage, records: Sequence[ConfigRecord]) -> list[MetadataRecord]:
    """Records that forget eligible leader replicas where `min.insync.replicas` changes; no name is every topic."""
    if not image.features.elr_enabled:
        return []
    changes = [record for record in records if record.name == MIN_ISR]
    topics = [record.resource_name if record.resource_type == ResourceType.TOPIC else "" for record in changes]
    return [ClearElrRecord(topic_name=topic) for topic in topics]
