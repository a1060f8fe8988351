"""A node with real logs for tests of Produce, Fetch and the like; nothing else of it works."""

from itertools import count
from pathlib import Path
from random import Random
from typing import Any, cast

from kafkish.handlers import catalog  # noqa: F401  # importing handlers registers them
from kafkish.handlers.registry import REGISTRY, RequestContext
from kafkish.handlers.services import Node, Services
from kafkish.partitions.fetch_session import FetchSessions
from kafkish.tests.partitions.world import NODE_ID, World
from kafkish_protocol.api import ApiKey
from kafkish_protocol.schema import Request


class DataNode(World):
    """Requests go through their bytes; what a handler answers is returned as it is, with its file slices."""

    def __init__(self, directory: Path, **static: str) -> None:
        super().__init__(directory, **static)
        ids = count(1)
        nothing = cast("Any", None)
        self.services = Services(
            node=Node(NODE_ID, "cluster"),
            metadata=self.publisher,
            controller=nothing,
            quorum=nothing,
            partitions=self.table,
            groups=nothing,
            producer_ids=nothing,
            fetch_sessions=FetchSessions(100, 120_000, lambda: next(ids), self.topic_name),
            timers=self.timers,
            wall_ms=lambda: self.now_ms,
            dice=Random(1),
        )

    def start(self, request: Request, version: int, client_id: str = "client") -> Any:
        """What the handler answers: a response, a Deferred, or None."""
        key = ApiKey(request.schema.api_key or 0)
        context = RequestContext(
            key, version, client_id, "203.0.113.9", "PLAINTEXT", "192.0.2.7", 19092, self.services, REGISTRY
        )
        return REGISTRY[key].respond(type(request).decode(request.encode(version), version), context)

    def ask(self, request: Request, version: int) -> Any:
        """The response, which must be there."""
        outcome = self.start(request, version)
        return outcome.result() if hasattr(outcome, "is_done") else outcome
