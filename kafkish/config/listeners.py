"""The listeners of a node, out of the several configs that describe them."""

import re
from collections.abc import Mapping
from typing import Final

from kafkish.config.addresses import PLAINTEXT, Listener, parse_listeners, parse_protocols
from kafkish.config.node import NodeConfigs
from kafkish.config.types import ConfigError

AUTO: Final = "auto"
"""`advertised.listeners=auto`: each client is told the address that it dialled."""
_PROTOCOLS: Final = "listener.security.protocol.map"
_INTER_BROKER: Final = "inter.broker.listener.name"
_SECURITY: Final = "security.inter.broker.protocol"


def listeners(configs: NodeConfigs) -> tuple[Listener, ...]:
    """Where this node listens, controller listeners included."""
    return parse_listeners("listeners", configs.texts("listeners"), security_protocols(configs))


def advertised_listeners(configs: NodeConfigs) -> tuple[Listener, ...] | None:
    """What clients and nodes are told to connect to; None for `auto`."""
    entries = configs.texts("advertised.listeners")
    if entries == (AUTO,):
        return None
    if not entries:
        return listeners(configs)
    return parse_listeners("advertised.listeners", entries, security_protocols(configs))


def controller_listener_names(configs: NodeConfigs) -> tuple[str, ...]:
    """Listeners that only the quorum speaks on."""
    return tuple(name.upper() for name in configs.texts("controller.listener.names"))


def inter_broker_listener_name(configs: NodeConfigs) -> str:
    """The listener on which brokers speak with each other."""
    name = configs.text(_INTER_BROKER).upper()
    if not name:
        return configs.text(_SECURITY)
    if _SECURITY in configs.effective:
        raise ConfigError(f"Only one of {_INTER_BROKER} and {_SECURITY} should be set.")
    if name not in security_protocols(configs):
        raise ConfigError(f"Listener with name {name} defined in {_INTER_BROKER} not found in {_PROTOCOLS}.")
    return name


def security_protocols(configs: NodeConfigs) -> dict[str, str]:
    """How each listener speaks. Controller listeners speak PLAINTEXT unless something says otherwise."""
    protocols = parse_protocols(_PROTOCOLS, configs.text(_PROTOCOLS))
    controllers = controller_listener_names(configs)
    names = [*controllers, *(entry.partition(":")[0].upper() for entry in configs.texts("listeners"))]
    secure = any(protocols.get(name, PLAINTEXT) != PLAINTEXT for name in names)
    if _PROTOCOLS in configs.effective or secure:
        return protocols
    return {**dict.fromkeys(controllers, PLAINTEXT), **protocols}


def connection_limits(configs: NodeConfigs) -> Mapping[str, int]:
    """`max.connections.per.ip.overrides`: host:limit pairs."""
    key = "max.connections.per.ip.overrides"
    limits = {}
    for pair in filter(None, (part.strip() for part in configs.text(key).split(","))):
        host, _, limit = pair.rpartition(":")
        if not host or not re.fullmatch("[0-9]{1,9}", limit.strip()):
            raise ConfigError(f"{pair!r} in {key} is not host:limit, such as 10.0.0.7:100")
        limits[host.strip()] = int(limit)
    return limits
