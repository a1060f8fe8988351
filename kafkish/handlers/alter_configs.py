"""AlterConfigs (33): replace all configs of resources.

This broker checks its own configs, since it alone knows what is in its properties file; the controller does the rest.
"""

from functools import partial

from kafkish.config.alter import alter_all
from kafkish.config.types import ResourceType
from kafkish.deferred import Deferred
from kafkish.handlers.altering import alter, unknown_type
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from kafkish_protocol.schema import Response

_FOR_THE_CONTROLLER = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLIENT_METRICS)


@handles(ApiKey.ALTER_CONFIGS)
def alter_configs(request: AlterConfigsRequest, context: RequestContext) -> Response | Deferred[Response]:
    """Answer for each resource."""
    return alter(request, context, partial(decide, context=context), AlterConfigsResourceResponse, AlterConfigsResponse)


def decide(asked: AlterConfigsResource, context: RequestContext) -> bool:
    """Refuse what cannot be; all else is the controller's."""
    if asked.resource_type == ResourceType.BROKER:
        metadata = context.services.metadata
        current = metadata.image.config(ResourceType.BROKER, asked.resource_name)
        wanted = [(config.name, config.value) for config in asked.configs]
        alter_all(ResourceType.BROKER, asked.resource_name, current, wanted, metadata.settings.configs)
    elif asked.resource_type not in _FOR_THE_CONTROLLER:
        raise unknown_type(asked.resource_type)
    return False
