"""When brokers were last heard of. The active controller's memory: none of it is in the log, all is lost at a failover.

Operations read it. Whoever runs them writes it: `activate` on taking over, `touch` when a heartbeat arrives, `heard`
when it has been answered, `forget` when a broker registers anew or is gone.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from kafkish.metadata.image import MetadataImage
from kafkish_protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse

DEFAULT_TIMEOUT_MS: Final = 9_000
"""Kafka's `broker.session.timeout.ms`."""

_FOREVER: Final = 2**63 - 1


@dataclass(slots=True)
class Session:
    """One broker, in one epoch of it."""

    epoch: int
    last_contact_ms: int
    metadata_offset: int = -1  # how far the broker has replayed the metadata log
    controlled_shutdown_offset: int = -1  # where the records end that moved its leaders away


class Sessions:
    """All brokers that were heard of."""

    def __init__(self, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> None:
        self.timeout_ms = timeout_ms
        self._sessions: dict[int, Session] = {}

    def activate(self, image: MetadataImage, now_ms: int, dead: Collection[int] = ()) -> None:
        """Begin anew as the active controller: whoever is unfenced has a whole timeout to be heard of.

        Not so who is known to be dead. A node that is broker and controller knows it of the broker that it was before:
        without that it would have to wait a timeout for its own id, as Kafka's does.
        """
        unfenced = [broker for broker in image.brokers.values() if not broker.fenced and broker.id not in dead]
        self._sessions = {broker.id: Session(broker.epoch, now_ms) for broker in unfenced}

    def touch(self, broker_id: int, epoch: int, now_ms: int) -> Session:
        """A heartbeat came in."""
        session = self._sessions.get(broker_id)
        if session is None or session.epoch != epoch:
            session = self._sessions[broker_id] = Session(epoch, now_ms)
        session.last_contact_ms = now_ms
        return session

    def heard(
        self, request: BrokerHeartbeatRequest, response: BrokerHeartbeatResponse, end_offset: int, now_ms: int
    ) -> None:
        """A heartbeat was answered without an error, and the log ended at `end_offset` then, with what it wrote."""
        session = self.touch(request.broker_id, request.broker_epoch, now_ms)
        session.metadata_offset = request.current_metadata_offset
        if response.is_fenced:
            session.controlled_shutdown_offset = -1
        elif request.want_shut_down and session.controlled_shutdown_offset < 0:
            session.controlled_shutdown_offset = end_offset

    def forget(self, broker_id: int) -> None:
        """The broker is gone, or another has its id."""
        self._sessions.pop(broker_id, None)

    def is_valid(self, broker_id: int, epoch: int, now_ms: int) -> bool:
        """Whether this very broker was heard of lately."""
        session = self._sessions.get(broker_id)
        return session is not None and session.epoch == epoch and not self._is_over(session, now_ms)

    def stale_broker(self, image: MetadataImage, now_ms: int) -> int | None:
        """The unfenced broker that has been silent for longest, if for too long."""
        for broker_id, session in sorted(self._sessions.items(), key=lambda item: item[1].last_contact_ms):
            broker = image.brokers.get(broker_id)
            known = broker is not None and broker.epoch == session.epoch and not broker.fenced
            if known and self._is_over(session, now_ms):
                return broker_id
        return None

    def controlled_shutdown_offset(self, broker_id: int) -> int:
        """Where the records end that moved a broker's leaders away; -1 if it is not in controlled shutdown."""
        session = self._sessions.get(broker_id)
        return -1 if session is None else session.controlled_shutdown_offset

    def lowest_active_offset(self, image: MetadataImage) -> int:
        """How far all brokers that stay have replayed the metadata log."""
        staying = [
            self._sessions.get(broker.id)
            for broker in image.brokers.values()
            if not broker.fenced and self.controlled_shutdown_offset(broker.id) < 0
        ]
        return min((-1 if session is None else session.metadata_offset for session in staying), default=_FOREVER)

    def _is_over(self, session: Session, now_ms: int) -> bool:
        return now_ms - session.last_contact_ms > self.timeout_ms
