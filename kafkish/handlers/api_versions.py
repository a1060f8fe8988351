"""ApiVersions (18): what this node serves.

- Any version is answered: one that is not known gets version 0 of the response with error 35 and the range of
  ApiVersions itself, so that a newer client can ask again (KIP-511). The dispatcher sees to that.
- Produce is told from version 0 on, as Kafka does, though it is served from 3: clients on librdkafka before 2.6 look
  for it to learn which compression codecs they may use (KAFKA-18659).
- From version 3 on features are told: what this broker supports, as it registered, and of those what is finalized for
  the cluster (KIP-584). Clients before version 4 cannot read a feature that may be switched off (KAFKA-17492).
- From version 3 on the client names its software; a name that breaks the rules gets error 42, and the connection stays.
"""

import re
from typing import Final

from kafkish.handlers.registry import Registry, RequestContext, handles
from kafkish.metadata.versions import KRAFT_VERSION
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

_LEVEL_0_VERSION: Final = 4
_TOLD_SINCE: Final = {ApiKey.PRODUCE: 0}
_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


@handles(ApiKey.API_VERSIONS)
def api_versions(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
    """Answer with the registry."""
    if context.api_version >= 3 and not _names_its_software(request):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    response = ApiVersionsResponse(api_keys=list_served(context.served))
    if context.api_version >= 3:
        add_features(response, context)
    return response


def add_features(response: ApiVersionsResponse, context: RequestContext) -> None:
    """Features that this broker supports. Before it has registered, there are none to tell of."""
    services = context.services
    image = services.metadata.image
    broker = image.brokers.get(services.node.id)
    supported = {} if broker is None else broker.features
    response.supported_features = [
        SupportedFeatureKey(name=name, min_version=low, max_version=high)
        for name, (low, high) in supported.items()
        if low > 0 or context.api_version >= _LEVEL_0_VERSION
    ]
    levels = {name: image.features.level(name) for name in supported}
    if KRAFT_VERSION in supported:
        levels[KRAFT_VERSION] = services.quorum.kraft_version
    response.finalized_features_epoch = image.provenance.offset
    response.finalized_features = [
        FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
        for name, level in levels.items()
        if level > 0
    ]


def list_served(served: Registry) -> list[ApiVersion]:
    """The registry as the response has it."""
    return [
        ApiVersion(api_key=key, min_version=_TOLD_SINCE.get(key, api.versions.low), max_version=api.versions.high)
        for key, api in sorted(served.items())
    ]


def unsupported_version(served: Registry) -> ApiVersionsResponse:
    """The answer, in version 0, to a version that this node does not know."""
    own = {ApiKey.API_VERSIONS: served[ApiKey.API_VERSIONS]}
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=list_served(own))


def _names_its_software(request: ApiVersionsRequest) -> bool:
    names = (request.client_software_name, request.client_software_version)
    return all(_SOFTWARE.fullmatch(name) for name in names)
