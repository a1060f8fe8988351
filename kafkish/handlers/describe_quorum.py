"""DescribeQuorum (55): the metadata quorum's leader, voters and observers, with how far each is."""

from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse


@handles(ApiKey.DESCRIBE_QUORUM)
def describe_quorum(request: DescribeQuorumRequest, context: RequestContext) -> Deferred[DescribeQuorumResponse]:
    """The quorum answers."""
    return context.services.quorum.describe(request, context.api_version)
