"""The broker of this process registers with the controller, which runs in the same process.

    register      a new incarnation, fenced; its epoch is where its record stands in the log
    catch up      heartbeats until it has replayed its own registration and is unfenced
    serve         heartbeats every `broker.heartbeat.interval.ms`
    leave         heartbeats that want to stop, until the controller has taken its leaderships away

The same requests and operations as those of a broker in another process; only the wire is missing.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kafkish.controller.broker_heartbeat import broker_heartbeat
from kafkish.controller.broker_registration import broker_registration
from kafkish.deferred import Deferred
from kafkish.metadata.nodes import VersionRange
from kafkish.quorum.runtime import Caller, ControllerRuntime
from kafkish.timers import Timer
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kafkish_protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from kafkish_protocol.types import Uuid

_log: Final = logging.getLogger(__name__)
_RETRY_MS: Final = 100
_REGISTRATION: Final = Caller(api_version=BrokerRegistrationRequest.schema.versions.high)
_HEARTBEAT: Final = Caller(api_version=BrokerHeartbeatRequest.schema.versions.high)


class RegistrationError(Exception):
    """The controller refuses this broker for good; the text says why."""


class LocalBroker:
    """Lifecycle of one incarnation. Owner's thread."""

    def __init__(
        self,
        controller: ControllerRuntime,
        *,
        listeners: Sequence[Listener],
        features: Mapping[str, VersionRange],
        directories: Sequence[Uuid],
        heartbeat_interval_ms: int,
        rack: str | None = None,
        previous_broker_epoch: int = -1,
    ) -> None:
        """`previous_broker_epoch` is that of the last clean stop, or -1."""
        self._controller = controller
        self._node_id = controller.settings.node_id
        self._interval_ms = heartbeat_interval_ms
        self._request = BrokerRegistrationRequest(
            broker_id=self._node_id,
            cluster_id=controller.settings.cluster_id,
            incarnation_id=controller.incarnation_id,
            listeners=list(listeners),
            features=[
                Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in features.items()
            ],
            rack=rack,
            log_dirs=sorted(directories),
            previous_broker_epoch=previous_broker_epoch,
        )
        self._is_started = False
        self._timer: Timer | None = None
        self._stopped: Deferred[None] | None = None
        self.offline_directories: set[Uuid] = set()
        """Directories that have failed: told with every heartbeat."""
        self.cordoned_directories: set[Uuid] | None = None
        """Directories that take no new replicas (KIP-1066); None if nothing was ever said of that."""
        self.epoch: int | None = None
        self.ready: Deferred[int] = Deferred()
        """The broker's epoch, once it is unfenced; fails if it can never be."""
        controller.on_active.append(self._register)
        controller.quorum.on_failure.append(self._quorum_failed)

    def start(self) -> None:
        """Register as soon as the controller is active."""
        self._is_started = True
        self._register()

    def stop(self) -> Deferred[None]:
        """Leave: done when nobody depends on this broker any more, or there is nobody to tell."""
        self._stopped = Deferred()
        if self.epoch is None or not self._controller.is_active:
            self._finish()
        else:
            self._heartbeat()
        return self._stopped

    # -- registering

    def _register(self) -> None:
        """When the controller becomes active, if it is not yet."""
        self._cancel_timer()
        if self._is_started and self.epoch is None and self._stopped is None and self._controller.is_active:
            self._controller.submit(broker_registration, self._request, _REGISTRATION).on_done(self._registered)

    def _registered(self, done: Deferred[BrokerRegistrationResponse]) -> None:
        try:
            response = done.result()
        except Exception as error:  # the controller changed, or failed: whoever is next decides
            _log.warning("the registration of broker %d was not answered: %s", self._node_id, error)
            if self._controller.quorum.failure is None:
                self._later(_RETRY_MS, self._register)
            return
        if response.error_code:
            self._refused(ErrorCode(response.error_code))
            return
        self.epoch = response.broker_epoch
        self._heartbeat()

    def _refused(self, code: ErrorCode) -> None:
        if code == ErrorCode.DUPLICATE_BROKER_REGISTRATION:  # until the session of the one before it is over
            self._later(_RETRY_MS, self._register)
        elif not self.ready.is_done:
            reason = f"the controller refuses broker {self._node_id}: {code.name}"
            if code == ErrorCode.UNSUPPORTED_VERSION:
                finalized = ", ".join(f"{name}={level}" for name, level in sorted(self._finalized().items()))
                reason += f". The cluster has finalized {finalized}, and this broker does not support all of it"
            self.ready.fail(RegistrationError(reason))

    def _finalized(self) -> dict[str, int]:
        features = self._controller.image.features
        return {**features.levels, "metadata.version": features.metadata_version or 0}

    # -- heartbeats

    def _heartbeat(self) -> None:
        self._cancel_timer()
        assert self.epoch is not None
        request = BrokerHeartbeatRequest(
            broker_id=self._node_id,
            broker_epoch=self.epoch,
            current_metadata_offset=self._controller.quorum.follower.applied_offset - 1,
            want_fence=False,
            want_shut_down=self._stopped is not None,
            offline_log_dirs=sorted(self.offline_directories),
            cordoned_log_dirs=None if self.cordoned_directories is None else sorted(self.cordoned_directories),
        )
        self._controller.submit(broker_heartbeat, request, _HEARTBEAT).on_done(self._beaten)

    def _beaten(self, done: Deferred[BrokerHeartbeatResponse]) -> None:
        if self._stopped is not None and self._stopped.is_done:
            return
        try:
            response = done.result()
        except Exception as error:  # as above
            _log.warning("a heartbeat of broker %d was not answered: %s", self._node_id, error)
            self._after_silence()
            return
        if response.error_code:
            self._forgotten(ErrorCode(response.error_code))
        elif self._stopped is not None:
            self._finish() if response.should_shut_down else self._later(_RETRY_MS, self._heartbeat)
        else:
            if not response.is_fenced and not self.ready.is_done:
                self.ready.resolve(self.epoch or 0)
            self._later(_RETRY_MS if response.is_fenced else self._interval_ms, self._heartbeat)

    def _after_silence(self) -> None:
        if self._stopped is not None:
            self._finish()
        elif self._controller.quorum.failure is None:
            self._later(self._interval_ms, self._heartbeat)

    def _forgotten(self, code: ErrorCode) -> None:
        """The controller knows this incarnation no more: somebody has unregistered it."""
        if self._stopped is not None:
            self._finish()
        else:
            _log.warning("broker %d is registered no more (%s) and registers again", self._node_id, code.name)
            self.epoch = None
            self._register()

    def _quorum_failed(self, reason: str) -> None:
        self._cancel_timer()
        if not self.ready.is_done:
            self.ready.fail(RegistrationError(reason))

    def _finish(self) -> None:
        self._cancel_timer()
        if self._stopped is not None and not self._stopped.is_done:
            self._stopped.resolve(None)

    def _later(self, delay_ms: int, action: Callable[[], object]) -> None:
        self._cancel_timer()
        self._timer = self._controller.quorum.timers.call_later(delay_ms, action)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
