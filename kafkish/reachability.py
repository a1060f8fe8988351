"""Notices clients that learn the brokers' addresses and never get there: the most common mistake of a first setup.

A client bootstraps with ApiVersions and Metadata, then connects to the address that it was told, and goes on there. One
that only ever bootstraps cannot reach it. The log says so once, and where to look.
"""

import logging
from typing import Final

from kafkish_protocol.api import ApiKey

log = logging.getLogger("kafkish.network")

_MANY: Final = 30
_MOST_HOSTS: Final = 1_000


class Reachability:
    """Counts what hosts ask for that have asked for nothing but metadata."""

    def __init__(self, advertised: str) -> None:
        self._advertised = advertised
        self._asked: dict[str, int] = {}  # hosts that may be lost, and how often they have asked
        self._arrived: set[str] = set()

    def saw(self, api_key: ApiKey, host: str) -> None:
        """A request has come from a host."""
        if host in self._arrived:
            return
        if api_key != ApiKey.METADATA:
            if api_key != ApiKey.API_VERSIONS:
                self._arrive(host)
            return
        asked = self._asked[host] = self._asked.get(host, 0) + 1
        if asked == _MANY:
            log.warning(
                "%s has asked %d times where the brokers are and never goes on: it cannot reach %s. "
                "Set advertised.listeners to an address that clients can reach, or to auto",
                host, asked, self._advertised,
            )  # fmt: skip
        if len(self._asked) > _MOST_HOSTS:
            del self._asked[next(iter(self._asked))]

    def _arrive(self, host: str) -> None:
        self._asked.pop(host, None)
        if len(self._arrived) >= _MOST_HOSTS:
            self._arrived.clear()
        self._arrived.add(host)
