"""AlterConfigs (33) and IncrementalAlterConfigs (44): configs of topics, brokers, groups and client metrics.

- AlterConfigs replaces all configs of a resource; what it does not name is removed. IncrementalAlterConfigs (KIP-339)
  sets, deletes, appends to and subtracts from single ones.
- A resource is changed as a whole or not at all; others in the request are not concerned.
- Broker configs are written even where the value stays: it makes brokers read files anew, such as certificates
  (KAFKA-14136).
- A new `min.insync.replicas` makes eligible leader replicas meaningless: they are cleared (KIP-966).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import partial
from typing import Final, TypeVar

from kafkish.controller.config_checks import MIN_ISR, check_exists, check_request, check_values
from kafkish.controller.operation import ApiError, Context, Result, check_size
from kafkish.controller.ports import ConfigPort
from kafkish.metadata.image import ConfigResource, MetadataImage, ResourceType
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages import alter_configs as legacy
from kafkish_protocol.messages import incremental_alter_configs as incremental
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_settings import ConfigRecord
from kafkish_protocol.stored.metadata_topics import ClearElrRecord

ResourceT = TypeVar("ResourceT", legacy.AlterConfigsResource, incremental.AlterConfigsResource)

_NO_ERROR: Final = ApiError(ErrorCode.NONE)


class Change(IntEnum):
    """What an incremental change does."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


def alter_configs(
    image: MetadataImage, request: legacy.AlterConfigsRequest, context: Context
) -> Result[legacy.AlterConfigsResponse]:
    """Replace the configs of each resource."""
    records, errors = alter_each(image, request.resources, context, replaced)
    rows = [
        legacy.AlterConfigsResourceResponse(
            error_code=error.code,
            error_message=error.message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource, error in zip(request.resources, errors, strict=True)
    ]
    return Result([] if request.validate_only else records, legacy.AlterConfigsResponse(responses=rows))


def incremental_alter_configs(
    image: MetadataImage, request: incremental.IncrementalAlterConfigsRequest, context: Context
) -> Result[incremental.IncrementalAlterConfigsResponse]:
    """Change single configs of each resource."""
    records, errors = alter_each(image, request.resources, context, partial(changed, configs=context.configs))
    rows = [
        incremental.AlterConfigsResourceResponse(
            error_code=error.code,
            error_message=error.message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource, error in zip(request.resources, errors, strict=True)
    ]
    response = incremental.IncrementalAlterConfigsResponse(responses=rows)
    return Result([] if request.validate_only else records, response)


def new_topic_configs(
    image: MetadataImage, topic: str, values: Mapping[str, str], context: Context
) -> list[MetadataRecord]:
    """Records for the configs of a topic that is being created."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    records = [config_record(resource, name, value) for name, value in values.items()]
    check_values(image, resource, records, context)
    return [*records, *cleared_elr(image, records)]


def alter_each(
    image: MetadataImage,
    resources: Sequence[ResourceT],
    context: Context,
    propose: Callable[[ResourceT, Mapping[str, str]], list[ConfigRecord]],
) -> tuple[list[MetadataRecord], list[ApiError]]:
    """Records of all resources that can be changed, and the error of each."""
    counts = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    records: list[ConfigRecord] = []
    errors = []
    for resource in resources:
        key = ConfigResource(resource.resource_type, resource.resource_name)
        try:
            if counts[key] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            check_request(resource, context)
            proposed = propose(resource, image.config(*key))
            check_values(image, key, proposed, context)
            check_exists(image, key, context)
            check_size(len(records) + len(proposed))
        except ApiError as error:
            errors.append(error)
        else:
            records += proposed
            errors.append(_NO_ERROR)
    return [*records, *cleared_elr(image, records)], errors


def replaced(resource: legacy.AlterConfigsResource, present: Mapping[str, str]) -> list[ConfigRecord]:
    """Records that leave a resource with these configs and no other."""
    key = ConfigResource(resource.resource_type, resource.resource_name)
    wanted = {config.name: config.value for config in resource.configs}
    news = [name for name, value in wanted.items() if is_news(key, present.get(name), value)]
    gone = [name for name in present if name not in wanted]
    return [config_record(key, name, wanted.get(name)) for name in (*news, *gone)]


def changed(
    resource: incremental.AlterConfigsResource, present: Mapping[str, str], configs: ConfigPort
) -> list[ConfigRecord]:
    """Records that change single configs of a resource."""
    key = ConfigResource(resource.resource_type, resource.resource_name)
    wanted = {config.name: new_value(key, config, present.get(config.name), configs) for config in resource.configs}
    news = [name for name, value in wanted.items() if is_news(key, present.get(name), value)]
    return [config_record(key, name, wanted[name]) for name in news]


def new_value(
    resource: ConfigResource, config: incremental.AlterableConfig, present: str | None, configs: ConfigPort
) -> str | None:
    """What a config becomes; None is nothing of its own."""
    if config.config_operation not in set(Change):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {config.config_operation}")
    change = Change(config.config_operation)
    if change is Change.DELETE:
        return None
    if change is Change.SET:
        return config.value
    if not configs.is_list(resource.type, config.name):
        message = f"Can't {change.name} to key {config.name} because its type is not LIST."
        raise ApiError(ErrorCode.INVALID_CONFIG, message)
    parts = split(configs.default(resource.type, config.name) if present is None else present)
    for part in split(config.value):
        if change is Change.SUBTRACT and part in parts:
            parts.remove(part)
        if change is Change.APPEND and part not in parts:
            parts.append(part)
    return ",".join(parts)


def split(value: str | None) -> list[str]:
    """The parts of a list."""
    return [part for part in (value or "").split(",") if part]


def is_news(resource: ConfigResource, present: str | None, wanted: str | None) -> bool:
    """Whether a value is worth a record."""
    return present != wanted or resource.type == ResourceType.BROKER


def config_record(resource: ConfigResource, name: str, value: str | None) -> ConfigRecord:
    """The record of one value."""
    return ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value)


def cleared_elr(image: MetadataImage, records: Sequence[ConfigRecord]) -> list[MetadataRecord]:
    """Records that forget eligible leader replicas where `min.insync.replicas` changes; no name is every topic."""
    if not image.features.elr_enabled:
        return []
    changes = [record for record in records if record.name == MIN_ISR]
    topics = [record.resource_name if record.resource_type == ResourceType.TOPIC else "" for record in changes]
    return [ClearElrRecord(topic_name=topic) for topic in topics]
