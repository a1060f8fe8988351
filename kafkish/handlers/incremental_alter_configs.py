"""IncrementalAlterConfigs (44): set, remove, append to or subtract from single configs (KIP-339).

This broker checks its own configs, since it alone knows what is in its properties file, and sets the levels of its own
loggers (KIP-412); the controller does the rest.
"""

from functools import partial

from kafkish.config.alter import alter_incrementally
from kafkish.config.types import ResourceType
from kafkish.deferred import Deferred
from kafkish.handlers.altering import alter, operations, unknown_type
from kafkish.handlers.loggers import alter_levels
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafkish_protocol.schema import Response

_FOR_THE_CONTROLLER = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLIENT_METRICS)


@handles(ApiKey.INCREMENTAL_ALTER_CONFIGS)
def incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, context: RequestContext
) -> Response | Deferred[Response]:
    """Answer for each resource."""
    decide_on = partial(decide, context=context, validate_only=request.validate_only)
    return alter(request, context, decide_on, AlterConfigsResourceResponse, IncrementalAlterConfigsResponse)


def decide(asked: AlterConfigsResource, context: RequestContext, *, validate_only: bool) -> bool:
    """Do what is this broker's, refuse what cannot be; all else is the controller's."""
    changes = operations(asked)
    if asked.resource_type == ResourceType.BROKER_LOGGER:
        alter_levels(changes, context.services.node.id, asked.resource_name, validate_only=validate_only)
        return True
    if asked.resource_type == ResourceType.BROKER:
        metadata = context.services.metadata
        current = metadata.image.config(ResourceType.BROKER, asked.resource_name)
        alter_incrementally(ResourceType.BROKER, asked.resource_name, current, changes, metadata.settings.configs)
    elif asked.resource_type not in _FOR_THE_CONTROLLER:
        raise unknown_type(asked.resource_type)
    return False
