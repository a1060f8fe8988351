"""Listeners, voters and addresses, read from the forms that Kafka writes them in. Nothing is resolved or opened."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from kafkish.config.rules import host_and_port
from kafkish.config.types import ConfigError

PLAINTEXT: Final = "PLAINTEXT"
SECURITY_PROTOCOLS: Final = (PLAINTEXT, "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_LISTENER: Final = r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]{1,5})"


class Address(NamedTuple):
    """A host and a port; port 0 lets the system choose."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Listener(NamedTuple):
    """A named address that clients or nodes connect to."""

    name: str
    protocol: str
    address: Address
    """An empty host stands for every interface."""


class Voter(NamedTuple):
    """A member of a static quorum."""

    id: int
    address: Address


def parse_listeners(key: str, entries: Sequence[str], protocols: Mapping[str, str]) -> tuple[Listener, ...]:
    """Read NAME://host:port entries; `protocols` says how each name speaks."""
    listeners = tuple(_listener(key, entry, protocols) for entry in entries)
    names = [listener.name for listener in listeners]
    if len(set(names)) < len(names):
        raise ConfigError(f"Each listener of {key} must have a different name: {','.join(entries)}")
    return listeners


def check_ports(key: str, listeners: Sequence[Listener]) -> None:
    """Two listeners may share a port only when one is IPv4 and the other IPv6."""
    sharing: dict[int, list[str]] = {}
    for listener in listeners:
        if listener.address.port:
            sharing.setdefault(listener.address.port, []).append(listener.address.host)
    for port, hosts in sharing.items():
        kinds = sorted(map(_ip_version, hosts))
        if len(hosts) > 1 and kinds != [4, 6]:
            raise ConfigError(
                f"Each listener of {key} must have a different port; {port} is used by {', '.join(hosts)}"
            )


def parse_protocols(key: str, text: str) -> dict[str, str]:
    """Read NAME:PROTOCOL pairs."""
    protocols = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, protocol = pair.rpartition(":")
        if not name or protocol.strip() not in SECURITY_PROTOCOLS:
            raise ConfigError(f"{pair!r} in {key} is not NAME:PROTOCOL with one of {', '.join(SECURITY_PROTOCOLS)}")
        protocols[name.strip().upper()] = protocol.strip()
    return protocols


def parse_voters(entries: Sequence[str]) -> tuple[Voter, ...]:
    """Read id@host:port entries."""
    pairs = (entry.partition("@") for entry in entries)
    return tuple(Voter(int(voter_id), parse_address(address)) for voter_id, _, address in pairs)


def parse_address(text: str) -> Address:
    """Read host:port."""
    parsed = host_and_port(text)
    if parsed is None or parsed[1] > 65_535:
        raise ConfigError(f"{text!r} is not host:port")
    return Address(*parsed)


def _listener(key: str, entry: str, protocols: Mapping[str, str]) -> Listener:
    match = re.fullmatch(_LISTENER, entry)
    if not match or int(match[3]) > 65_535:
        raise ConfigError(f"Unable to parse {entry} in {key}. Write NAME://host:port, such as PLAINTEXT://0.0.0.0:9092")
    name = match[1].upper()
    if name not in protocols:
        raise ConfigError(f"No security protocol defined for listener {name}: add it to listener.security.protocol.map")
    return Listener(name, protocols[name], Address(match[2], int(match[3])))


def _ip_version(host: str) -> int:
    if ":" in host:
        return 6
    return 4 if re.fullmatch(r"\d+(\.\d+){3}", host) else 0
