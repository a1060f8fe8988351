"""What must hold between the configs of a broker, at start-up and after a dynamic change.

Each check raises ConfigError with a sentence for a person. What one config may be by itself is said by its rule.
"""

from collections.abc import Callable, Iterator
from typing import Final

from kafkish.config.addresses import PLAINTEXT, check_ports
from kafkish.config.listeners import (
    advertised_listeners,
    connection_limits,
    controller_listener_names,
    inter_broker_listener_name,
    listeners,
    security_protocols,
)
from kafkish.config.node import NodeConfigs
from kafkish.config.types import ConfigError

_Check = Callable[[NodeConfigs], bool]

UNSERVED: Final[tuple[tuple[str, _Check], ...]] = (
    ("authorizer.class.name", lambda configs: configs.text("authorizer.class.name") != ""),
    ("remote.log.storage.system.enable", lambda configs: configs.values["remote.log.storage.system.enable"] is True),
    ("config.providers", lambda configs: configs.texts("config.providers") != ()),
    (
        "a listener that is not PLAINTEXT",
        lambda configs: any(each.protocol != PLAINTEXT for each in listeners(configs)),
    ),
)
"""What Kafka has, kafkish does not have yet, and nobody would want to be ignored in silence."""

_NUMBERS: Final[tuple[tuple[_Check, str], ...]] = (
    (lambda c: c.values["node.id"] == c.values["broker.id"], "node.id and broker.id must be the same number"),
    (lambda c: _topic(c, "segment.ms") >= 1, "log.roll.ms must be greater than or equal to 1"),
    (lambda c: _topic(c, "segment.jitter.ms") >= 0, "log.roll.jitter.ms must be greater than or equal to 0"),
    (
        lambda c: _topic(c, "retention.ms") >= 1 or _topic(c, "retention.ms") == -1,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    ),
    (
        lambda c: _topic(c, "min.compaction.lag.ms") <= _topic(c, "max.compaction.lag.ms"),
        "log.cleaner.min.compaction.lag.ms must not be greater than log.cleaner.max.compaction.lag.ms",
    ),
    (
        lambda c: c.number("log.cleaner.dedupe.buffer.size") >= c.number("log.cleaner.threads") * 1_048_577 > 0,
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    ),
    (
        lambda c: c.number("replica.fetch.wait.max.ms") <= c.number("replica.socket.timeout.ms"),
        "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms",
    ),
    (
        lambda c: c.number("replica.fetch.wait.max.ms") <= c.number("replica.lag.time.max.ms"),
        "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms",
    ),
    (
        lambda c: not 0 < c.number("queued.max.request.bytes") < c.number("socket.request.max.bytes"),
        "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
    ),
    (
        lambda c: c.number("max.connections.per.ip") > 0 or connection_limits(c) != {},
        "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides is set.",
    ),
    (
        lambda c: not 0 <= c.number("connections.max.idle.ms") <= c.number("connection.failed.authentication.delay.ms"),
        "connection.failed.authentication.delay.ms should always be less than connections.max.idle.ms",
    ),
    (
        lambda c: "classic" in c.texts("group.coordinator.rebalance.protocols"),
        "Disabling the 'classic' protocol is not supported.",
    ),
    (
        lambda c: c.number("group.share.max.share.sessions") >= c.number("group.share.max.size"),
        "group.share.max.share.sessions must be greater than or equal to group.share.max.size",
    ),
    (
        lambda c: len(c.texts("group.share.assignors")) == 1,
        "group.share.assignors must contain exactly one assignor",
    ),
)

_GROUPS: Final = ("group.consumer", "group.share", "group.streams")
BOUNDED: Final = (
    *((f"{group}.", "heartbeat.interval.ms") for group in _GROUPS),
    *((f"{group}.", "session.timeout.ms") for group in _GROUPS),
    *((f"{group}.", "assignment.interval.ms") for group in _GROUPS),
    ("group.share.", "record.lock.duration.ms"),
    ("group.share.", "delivery.count.limit"),
    ("group.share.", "partition.max.record.locks"),
)
"""Configs with a twin whose last part begins with `min.` and one with `max.`."""


def check_broker(configs: NodeConfigs) -> None:
    """Raise the first thing that is wrong."""
    for problem in _problems(configs):
        raise ConfigError(problem)
    connection_limits(configs)
    check_ports("listeners", listeners(configs))
    inter_broker_listener_name(configs)


def check_start(configs: NodeConfigs) -> None:
    """What only a start-up can get wrong, after `check_broker`."""
    for what, asked_for in UNSERVED:
        if asked_for(configs):
            raise ConfigError(f"kafkish does not serve {what} yet; it would be ignored, so it is refused")
    for problem in (*_listener_problems(configs), *_quorum_problems(configs)):
        raise ConfigError(problem)


def _problems(configs: NodeConfigs) -> Iterator[str]:
    yield from (problem for holds, problem in _NUMBERS if not holds(configs))
    for prefix, name in BOUNDED:
        least, value, most = f"{prefix}min.{name}", f"{prefix}{name}", f"{prefix}max.{name}"
        for smaller, larger in ((least, most), (least, value), (value, most)):
            if configs.number(smaller) > configs.number(larger):
                yield f"{larger} must be greater than or equal to {smaller}"
    for group in _GROUPS:
        heartbeat, session = f"{group}.heartbeat.interval.ms", f"{group}.session.timeout.ms"
        if configs.number(heartbeat) >= configs.number(session):
            yield f"{heartbeat} must be less than {session}"
    if configs.number("group.streams.num.standby.replicas") > configs.number("group.streams.max.standby.replicas"):
        yield "group.streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas"
    cordoned, log_dirs = configs.texts("cordoned.log.dirs"), configs.texts("log.dirs") or configs.texts("log.dir")
    if cordoned != ("*",) and not set(cordoned) <= set(log_dirs):
        yield f"All entries in cordoned.log.dirs must be present in log.dirs or log.dir: {','.join(cordoned)}"


def _listener_problems(configs: NodeConfigs) -> Iterator[str]:
    """Listeners that clients could not use."""
    names = {listener.name for listener in listeners(configs)}
    advertised = advertised_listeners(configs)
    clients = names if advertised is None else {listener.name for listener in advertised}
    clients -= set(controller_listener_names(configs))
    if advertised is not None and any(listener.address.host == "0.0.0.0" for listener in advertised):
        yield "advertised.listeners cannot use the nonroutable address 0.0.0.0. Use a routable IP address, or auto."
    early = {name.upper() for name in configs.texts("early.start.listeners")}
    if not early <= names | set(controller_listener_names(configs)):
        yield "early.start.listeners has a name that neither listeners nor controller.listener.names has"
    if "broker" not in configs.texts("process.roles"):
        return
    if not clients:
        yield "There must be at least one broker listener. Perhaps all appear in controller.listener.names?"
    if not clients <= names:
        yield f"advertised.listeners names {', '.join(sorted(clients - names))}, which listeners does not have"
    if inter_broker_listener_name(configs) not in clients:
        options = ", ".join(sorted(clients))
        yield f"inter.broker.listener.name must be one of the listeners that brokers advertise: {options}"


def _quorum_problems(configs: NodeConfigs) -> Iterator[str]:
    """A quorum that this node could not take part in. A node that names no quorum is one by itself."""
    voters, roles = configs.texts("controller.quorum.voters"), configs.texts("process.roles")
    bootstrap = configs.texts("controller.quorum.bootstrap.servers")
    controllers = set(controller_listener_names(configs))
    names = {listener.name for listener in listeners(configs)}
    is_voter = str(configs.values["node.id"]) in (entry.partition("@")[0] for entry in voters)
    if not voters and not bootstrap:
        if set(roles) != {"broker", "controller"}:
            yield "Without controller.quorum.voters or controller.quorum.bootstrap.servers, process.roles must be both"
        return
    if "controller" not in roles:
        if is_voter:
            yield "A node in controller.quorum.voters must have controller among its process.roles"
        if controllers & names:
            yield "Without the controller role, listeners must not have a name of controller.listener.names"
        if not controllers <= set(security_protocols(configs)):
            yield "Every name of controller.listener.names needs an entry in listener.security.protocol.map"
        return
    if voters and not is_voter:
        yield f"The node id {configs.values['node.id']} must be included in controller.quorum.voters"
    if not controllers <= names:
        yield "Every name of controller.listener.names must appear in listeners on a controller"
    if "broker" not in roles and not names <= controllers:
        yield "With process.roles=controller, listeners must only have names of controller.listener.names"


def _topic(configs: NodeConfigs, name: str) -> int:
    value = configs.topic_defaults[name]
    assert isinstance(value, int), name
    return value
