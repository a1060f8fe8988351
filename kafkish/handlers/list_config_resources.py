"""ListConfigResources (74): what has configs (KIP-1142).

Version 0 knows client metrics alone (KIP-714). Later the client names types, and none means all.
"""

from collections.abc import Iterable, Iterator

from kafkish.config.types import ResourceType
from kafkish.handlers.endpoints import View
from kafkish.handlers.registry import RequestContext, RequestError, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_ALL_TYPES = tuple(kind for kind in ResourceType if kind is not ResourceType.UNKNOWN)


@handles(ApiKey.LIST_CONFIG_RESOURCES)
def list_config_resources(request: ListConfigResourcesRequest, context: RequestContext) -> ListConfigResourcesResponse:
    """Answer with the names of each type's resources."""
    kinds = wanted_types(request.resource_types) if context.api_version else (ResourceType.CLIENT_METRICS,)
    found = [ConfigResource(resource_type=kind, resource_name=name) for kind in kinds for name in names(kind, context)]
    return ListConfigResourcesResponse(config_resources=found)


def wanted_types(numbers: Iterable[int]) -> tuple[ResourceType, ...]:
    """The types that are asked for, once each."""
    asked = tuple(dict.fromkeys(numbers))
    if not set(asked) <= set(_ALL_TYPES):
        raise RequestError(ErrorCode.UNSUPPORTED_VERSION)
    return tuple(ResourceType(number) for number in asked) or _ALL_TYPES


def names(kind: ResourceType, context: RequestContext) -> Iterator[str]:
    """Topics and brokers that there are; groups and client metrics that have configs of their own."""
    image = context.services.metadata.image
    if kind is ResourceType.TOPIC:
        yield from sorted(image.topics.by_name)
    elif kind in (ResourceType.BROKER, ResourceType.BROKER_LOGGER):
        yield from map(str, View(context).endpoints)
    else:
        yield from sorted(resource.name for resource in image.configs if resource.type == kind)
