"""What a coordinator is told besides the request: who asks, and what time it is."""

from typing import NamedTuple


class Now(NamedTuple):
    """One instant on two clocks. Sessions must survive an operator who sets the wall clock (see `kafkish.clock`)."""

    monotonic_ms: int  # deadlines
    wall_ms: int  # timestamps that are stored


class Caller(NamedTuple):
    """Where a request came from, and where its response goes."""

    handle: object  # opaque: comes back in a `Reply`, exactly once
    api_version: int
    client_id: str  # empty if the client sent none, as in Kafka
    client_host: str  # the address alone; shown and stored as Kafka does, with a slash before it
