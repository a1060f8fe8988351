"""Where a client reaches the brokers of the cluster."""

from collections.abc import Iterable
from typing import NamedTuple

from kafkish.handlers.registry import RequestContext
from kafkish.metadata.nodes import Broker

NO_NODE = -1


class Endpoint(NamedTuple):
    """A broker, as one client reaches it."""

    node_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool = False


NOWHERE = Endpoint(NO_NODE, "", -1, None)


def endpoint_of(broker: Broker, context: RequestContext) -> Endpoint | None:
    """A broker's address on the listener that the client came in by; None if it has no such listener.

    With `advertised.listeners=auto` this node is where the client dialled: that is known to work for it.
    """
    services = context.services
    if broker.id == services.node.id and services.metadata.settings.network.advertised_listeners is None:
        return Endpoint(broker.id, context.local_host, context.local_port, broker.rack, broker.fenced)
    for listener in broker.listeners:
        if listener.name == context.listener:
            return Endpoint(broker.id, listener.host, listener.port, broker.rack, broker.fenced)
    return None


def endpoints(context: RequestContext, *, with_fenced: bool = False) -> list[Endpoint]:
    """All brokers that the client can reach."""
    brokers: Iterable[Broker] = context.services.metadata.image.brokers.values()
    found = (endpoint_of(broker, context) for broker in brokers if with_fenced or not broker.fenced)
    return [endpoint for endpoint in found if endpoint is not None]


def leader_endpoint(leader: int, context: RequestContext) -> Endpoint | None:
    """Where a leader is; None if nobody leads, or if this client cannot reach it."""
    broker = context.services.metadata.image.brokers.get(leader)
    return None if broker is None else endpoint_of(broker, context)


def shown_controller(brokers: list[Endpoint], context: RequestContext) -> int:
    """The controller as clients know it: any broker, since each passes on what concerns the controller (KIP-590)."""
    alive = [broker.node_id for broker in brokers if not broker.is_fenced]
    return context.services.dice.choice(alive) if alive else NO_NODE
