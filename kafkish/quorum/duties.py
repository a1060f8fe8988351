"""What the active controller does by itself from time to time; see `kafkish.controller.periodic`."""

from collections.abc import Callable
from typing import Final

from kafkish.config.settings import ReplicationSettings
from kafkish.controller.operation import Context
from kafkish.controller.periodic import MAX_ELECTIONS, balance_leaders, elect_unclean_leaders, fence_stale_broker
from kafkish.metadata.image import MetadataImage
from kafkish.quorum.runtime import ControllerRuntime
from kafkish.timers import Timer
from kafkish_protocol.schema import MetadataRecord

_SOON_MS: Final = 10


class Duties:
    """Runs while the controller is active."""

    def __init__(self, controller: ControllerRuntime, settings: ReplicationSettings) -> None:
        self._controller = controller
        self._settings = settings
        self._timers: dict[Callable[..., object], Timer] = {}
        controller.on_active.append(self._begin)
        controller.on_inactive.append(self._end)

    def _begin(self) -> None:
        settings = self._settings
        self._every(max(1, settings.broker_session_timeout_ms // 8), self._fence_stale_brokers)
        self._every(settings.unclean_leader_election_interval_ms, lambda: self._elect(elect_unclean_leaders))
        if settings.auto_leader_rebalance_enable:
            interval_ms = settings.leader_imbalance_check_interval_seconds * 1_000
            self._every(interval_ms, lambda: self._elect(balance_leaders))

    def _end(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _every(self, interval_ms: int, duty: Callable[[], bool]) -> None:
        """Again after the interval, or soon if the duty says that it has more to do."""

        def run() -> None:
            has_more = duty()
            if duty in self._timers:  # still active
                self._timers[duty] = call_later(_SOON_MS if has_more else interval_ms, run)

        call_later = self._controller.quorum.timers.call_later
        self._timers[duty] = call_later(interval_ms, run)

    def _fence_stale_brokers(self) -> bool:
        """The broker in this process is alive: whoever runs this proves it."""
        own = self._controller.image.brokers.get(self._controller.settings.node_id)
        if own is not None and own.incarnation_id == self._controller.incarnation_id:
            now_ms = self._controller.quorum.clock.monotonic_ms()
            self._controller.sessions.touch(own.id, own.epoch, now_ms)
        return self._controller.write(fence_stale_broker) != 0

    def _elect(self, elect: Callable[[MetadataImage, Context], list[MetadataRecord]]) -> bool:
        return self._controller.write(elect) not in range(MAX_ELECTIONS)
