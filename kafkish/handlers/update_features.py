"""UpdateFeatures (57): raise or lower the cluster's finalized feature levels."""

from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.update_features import UpdateFeaturesRequest
from kafkish_protocol.schema import Response


@handles(ApiKey.UPDATE_FEATURES)
def update_features(request: UpdateFeaturesRequest, context: RequestContext) -> Deferred[Response]:
    """The controller answers."""
    return context.services.controller.submit(request, context.api_version)
