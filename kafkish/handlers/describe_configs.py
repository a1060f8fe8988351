"""DescribeConfigs (32): the configs of topics, brokers, groups and client metrics, and this node's log levels.

- Each resource has its own error. A type that does not exist refuses the request as a whole, as Kafka does.
- Brokers and loggers are this node's own; what is set for all brokers has the empty name.
- Synonyms are told where they are asked for, and so is documentation (version 3).
"""

from collections.abc import Collection, Iterator

from kafkish.config.describe import ConfigRow, describe
from kafkish.config.names import broker_id
from kafkish.config.topic_names import why_invalid
from kafkish.config.types import ConfigError, ConfigSource, ConfigType, ResourceType
from kafkish.deferred import Deferred
from kafkish.handlers import loggers
from kafkish.handlers.long_answers import made_in_turns
from kafkish.handlers.registry import RequestContext, RequestError, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

_AT_ONCE = 50
"""Resources in one turn: some milliseconds of the loop."""

_TYPES = frozenset(ResourceType) - {ResourceType.UNKNOWN}


@handles(ApiKey.DESCRIBE_CONFIGS)
def describe_configs(
    request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResponse | Deferred[DescribeConfigsResponse]:
    """Answer for each resource."""
    for asked in request.resources:
        if asked.resource_type not in _TYPES:
            message = f"Unexpected resource type {asked.resource_type} for resource {asked.resource_name}"
            raise RequestError(ErrorCode.INVALID_REQUEST, message)
    response = DescribeConfigsResponse()
    return made_in_turns(response, describe_all(request, response, context), context.services.timers)


def describe_all(
    request: DescribeConfigsRequest, response: DescribeConfigsResponse, context: RequestContext
) -> Iterator[None]:
    """Add the rows of all resources, in turns."""
    for count, asked in enumerate(request.resources, 1):
        response.results.append(described(asked, request, context))
        if count % _AT_ONCE == 0:
            yield


def described(
    asked: DescribeConfigsResource, request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResult:
    """The row of one resource."""
    result = DescribeConfigsResult(resource_type=asked.resource_type, resource_name=asked.resource_name)
    try:
        rows = config_rows(ResourceType(asked.resource_type), asked.resource_name, asked.configuration_keys, context)
    except ConfigError as error:
        result.error_code, result.error_message = error.code, error.message
    else:
        result.configs = [shown_config(row, request) for row in rows]
    return result


def config_rows(
    resource: ResourceType, name: str, keys: Collection[str] | None, context: RequestContext
) -> list[ConfigRow]:
    """The configs of a resource that exists; those of the keys, if there are any."""
    metadata = context.services.metadata
    if resource is ResourceType.BROKER_LOGGER:
        return logger_rows(name, keys, context.services.node.id)
    if resource is ResourceType.TOPIC:
        if (reason := why_invalid(name)) is not None:
            raise ConfigError(f"Topic name is invalid: {reason}", ErrorCode.INVALID_TOPIC_EXCEPTION)
        if metadata.image.topic(name) is None:
            raise ConfigError("", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return describe(resource, name, metadata.image.config(resource, name), metadata.settings.configs, keys)


def logger_rows(name: str, keys: Collection[str] | None, node_id: int) -> list[ConfigRow]:
    """The levels of loggers (KIP-412)."""
    if not name:
        raise ConfigError("Broker id must not be empty", ErrorCode.INVALID_REQUEST)
    if broker_id(name) is None:
        raise ConfigError(f"Broker id must be an integer, but it is: {name}", ErrorCode.INVALID_REQUEST)
    if broker_id(name) != node_id:
        message = f"Unexpected broker id, expected {node_id} but received {name}"
        raise ConfigError(message, ErrorCode.INVALID_REQUEST)
    source, kind = ConfigSource.DYNAMIC_BROKER_LOGGER, ConfigType.UNKNOWN
    return [
        ConfigRow(logger, level, read_only=False, source=source, sensitive=False, synonyms=(), type=kind)
        for logger, level in loggers.levels().items()
        if not keys or logger in keys
    ]


def shown_config(row: ConfigRow, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    """One config. A secret has no value."""
    shown = DescribeConfigsResourceResult(
        name=row.name,
        value=None if row.sensitive else row.value,
        read_only=row.read_only,
        config_source=row.source,
        is_sensitive=row.sensitive,
        config_type=row.type,
        documentation=documentation(row, wanted=request.include_documentation),
    )
    if request.include_synonyms:
        shown.synonyms = [
            DescribeConfigsSynonym(name=name, value=None if row.sensitive else value, source=source)
            for name, value, source in row.synonyms
        ]
    return shown


def documentation(row: ConfigRow, *, wanted: bool) -> str | None:
    """Loggers have none, and say so."""
    if row.source is ConfigSource.DYNAMIC_BROKER_LOGGER:
        return ""
    return row.documentation if wanted else None
