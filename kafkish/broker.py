"""A broker put together: quorum, logs, partitions, coordinators, handlers, listeners. Wiring, and nothing else."""

import asyncio
import logging
import socket
from collections.abc import Callable
from math import inf
from random import Random
from typing import Any, Final, TypeVar

from kafkish import clock, collector
from kafkish.config.addresses import SECURITY_PROTOCOLS, Address
from kafkish.config.settings import Settings
from kafkish.controller.node_configs import NodeConfigPort
from kafkish.controller.operation import ApiError, random_uuid
from kafkish.controller.operation import Settings as ControllerSettings
from kafkish.controller.operations import operation_of
from kafkish.controller.patience import patience_ms
from kafkish.coordination import Coordination
from kafkish.coordinators.groups.coordinator import GroupCoordinator
from kafkish.coordinators.groups.settings import GroupSettings
from kafkish.coordinators.inputs import Now
from kafkish.coordinators.surroundings import RuntimeSettings, Surroundings
from kafkish.deferred import Deferred
from kafkish.dispatch import Dispatch
from kafkish.handlers import catalog  # noqa: F401  # importing it registers the handlers
from kafkish.handlers.registry import REGISTRY, RequestError
from kafkish.handlers.services import ControllerError, Node, Services
from kafkish.local_quorum import LocalQuorum
from kafkish.loop import LoopTimers, LoopWorkers
from kafkish.metadata.changes import Update
from kafkish.metrics import Exporter, Metrics
from kafkish.network.connection import Patience
from kafkish.network.listener import SYSTEM_CHOOSES, Limits, Listener, ListenError, bind
from kafkish.observation import LoopProbe, observe_cleaning, observe_connections, observe_groups, observe_partitions
from kafkish.partitions.cleaning import Cleaning
from kafkish.partitions.fetch_session import FetchSessions
from kafkish.partitions.flusher import Flusher
from kafkish.partitions.housekeeping import Housekeeping
from kafkish.partitions.table import PartitionTable
from kafkish.producer_ids import ProducerIdBlocks
from kafkish.publisher import Publisher
from kafkish.quorum.duties import Duties
from kafkish.quorum.formatting import SERVED_FEATURES, identify, read_bootstrap
from kafkish.quorum.local_broker import LocalBroker, RegistrationError
from kafkish.quorum.opening import open_quorum
from kafkish.quorum.runtime import Caller, ControllerRuntime
from kafkish.reachability import Reachability
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.broker_registration import Listener as AdvertisedListener
from kafkish_protocol.records import Compression
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Uuid
from kafkish_storage import DiskFiles, LoadProgress, LogManager, ProducerConfig, StorageConfig
from kafkish_storage.errors import StorageError

log = logging.getLogger("kafkish.broker")

T = TypeVar("T")

_WORKER_THREADS: Final = 4
_PATIENCE_S: Final = 30
_TELL_MS: Final = 1_000
_SESSION_EVICTION_MS: Final = 120_000


class StartError(Exception):
    """The broker cannot start; the text says why, and what to do."""


class Broker:
    """One node, from `start` to `stop`."""

    def __init__(self, settings: Settings, on_failure: Callable[[], object] = lambda: None) -> None:
        """`on_failure` is called if the node cannot go on; `failure` says why then."""
        self.failure: str | None = None
        self._settings = settings
        self._on_failure = on_failure
        self._listeners: list[Listener] = []
        self._exporters: list[Exporter] = []
        self.metrics = Metrics()

    async def start(self) -> Address:
        """Open everything, take part in the cluster, then listen; the address that clients can use."""
        try:
            bound = [(each.name, bind(*each.address)) for each in self._client_listeners()]
            self._open()
            await self._join(bound)
            self._observe()
            return self._listen(bound)
        except (ListenError, StorageError, RegistrationError) as error:
            raise StartError(str(error)) from error

    async def stop(self) -> None:
        """Take no more requests, finish those under way, hand over, write everything down."""
        for listener in self._listeners:
            listener.stop_accepting()
        self.housekeeping.stop()
        self.probe.stop()
        for exporter in self._exporters:
            exporter.stop()
        self.groups.stop()
        if self.failure is None:
            await _within(_PATIENCE_S, self.local.stop())
        for listener in self._listeners:
            listener.close_all("the broker stops")
        await _within(_PATIENCE_S, self.quorum.stop())
        self._workers.stop()
        try:
            self.logs.close(self.local.epoch or -1)
        except StorageError as error:
            self._fail(str(error))

    # -- putting together

    def _open(self) -> None:
        loop = asyncio.get_running_loop()
        self._timers, self._workers = (
            LoopTimers(loop),
            LoopWorkers(loop, _WORKER_THREADS + self._settings.log.log_cleaner_threads),
        )
        self._files, self._dice = DiskFiles(), Random()
        settings = self._settings
        self.identity = identify(settings, self._files, clock, self._dice)
        self.node = Node(settings.node.node_id, self.identity.cluster_id)
        self.logs = self._open_logs()
        self._open_quorum()
        self.publisher = Publisher(settings)
        flusher = Flusher(self._workers, clock.wall_ms)
        self.partitions = PartitionTable(
            self.logs,
            self.node.id,
            workers=self._workers,
            flush=flusher.flush,
            wall_ms=clock.wall_ms,
            on_made=collector.Partitions().made,
        )
        self.groups = self._make_groups()
        self.cleaning = Cleaning(
            self.logs,
            lambda: self.publisher.settings,
            workers=self._workers,
            wall_ms=clock.wall_ms,
            monotonic_s=clock.monotonic_s,
        )
        self.housekeeping = Housekeeping(
            self.logs,
            self.partitions,
            flusher,
            self.cleaning,
            lambda: self.publisher.settings,
            timers=self._timers,
            workers=self._workers,
            wall_ms=clock.wall_ms,
        )
        self.publisher.subscribe(self.partitions.apply)
        self.publisher.subscribe(Coordination(self.groups, self.partitions, self.node.id).apply)
        self.quorum.subscribe(self.publisher.committed)
        self.services = self._make_services()

    def _open_logs(self) -> LogManager:
        settings = self._settings
        config = StorageConfig(
            producers=ProducerConfig(
                producer_id_expiration_ms=settings.transactions.producer_id_expiration_ms,
                transaction_max_timeout_ms=settings.transactions.transaction_max_timeout_ms,
            ),
            cluster_id=self.identity.cluster_id,
            node_id=settings.node.node_id,
            threads_per_directory=settings.log.num_recovery_threads_per_data_dir,
        )
        paths, now_ms = settings.log.log_dirs, clock.wall_ms()
        return LogManager.open(self._files, paths, config, now_ms=now_ms, dice=self._dice, progress=_Progress())

    def _open_quorum(self) -> None:
        settings = self._settings
        self.quorum = open_quorum(
            settings,
            self.identity,
            self._files,
            clock=clock,
            timers=self._timers,
            executor=self._workers,
            dice=self._dice,
        )
        self.quorum.on_failure.append(self._fail)
        self.controller = ControllerRuntime(
            self.quorum,
            ControllerSettings(
                cluster_id=self.identity.cluster_id,
                node_id=settings.node.node_id,
                voter_ids=frozenset({settings.node.node_id}),
                supported_features=SERVED_FEATURES,
                default_partitions=settings.topics.num_partitions,
                default_replication_factor=settings.topics.default_replication_factor,
                delete_topics=settings.topics.delete_topic_enable,
            ),
            NodeConfigPort(settings.configs.static),
            read_bootstrap(self._files, self.identity.metadata_directory, SERVED_FEATURES),
            incarnation_id=random_uuid(self._dice.randbytes),
            session_timeout_ms=settings.replication.broker_session_timeout_ms,
        )
        Duties(self.controller, settings.replication)

    def _make_groups(self) -> GroupCoordinator:
        settings = self._settings.groups
        return GroupCoordinator(
            settings.offsets_topic_num_partitions,
            GroupSettings(
                min_session_timeout_ms=settings.group_min_session_timeout_ms,
                max_session_timeout_ms=settings.group_max_session_timeout_ms,
                initial_rebalance_delay_ms=settings.group_initial_rebalance_delay_ms,
                max_members=settings.group_max_members,
                offset_metadata_max_chars=settings.offset_metadata_max_bytes,
                offsets_retention_ms=settings.offsets_retention_minutes * 60_000,
                offsets_retention_check_interval_ms=settings.offsets_retention_check_interval_ms,
            ),
            lambda: _member_id(self._dice),
            Surroundings(
                RuntimeSettings(
                    write_timeout_ms=settings.offsets_commit_timeout_ms,
                    load_buffer_bytes=settings.offsets_load_buffer_bytes,
                    compression=Compression(settings.offsets_topic_compression_codec),
                ),
                self._timers,
                lambda: Now(clock.monotonic_ms(), clock.wall_ms()),
            ),
        )

    def _make_services(self) -> Services:
        controller = _LocalController(self.controller, self.publisher)
        sessions = self._settings.fetch.max_incremental_fetch_session_cache_slots
        return Services(
            node=self.node,
            metadata=self.publisher,
            controller=controller,
            quorum=LocalQuorum(self.quorum),
            partitions=self.partitions,
            groups=self.groups,
            producer_ids=ProducerIdBlocks(self.node.id, lambda: self.local.epoch or -1, controller),
            fetch_sessions=FetchSessions(
                sessions,
                _SESSION_EVICTION_MS,
                lambda: self._dice.randrange(1, 2**31),
                lambda topic_id: self.publisher.image.topic_name(topic_id),  # noqa: PLW0108  # images come and go
            ),
            timers=self._timers,
            wall_ms=clock.wall_ms,
            dice=self._dice,
        )

    # -- the cluster and the clients

    async def _join(self, bound: list[tuple[str, socket.socket]]) -> None:
        """Take part in the quorum, register this broker, and carry out all that the metadata says of it."""
        settings = self._settings
        self.local = LocalBroker(
            self.controller,
            listeners=self._advertised(bound),
            features=SERVED_FEATURES,
            directories=self.identity.log_directory_ids,
            heartbeat_interval_ms=settings.replication.broker_heartbeat_interval_ms,
            rack=settings.node.broker_rack,
            previous_broker_epoch=_previous_epoch(self.logs),
        )
        self.quorum.start()
        self.local.start()
        await _value(self.local.ready)
        await _value(self.publisher.settled())
        self.partitions.set_strays_aside(self.publisher.image)
        self.housekeeping.start()

    def _listen(self, bound: list[tuple[str, socket.socket]]) -> Address:
        for name, each in bound:
            self._listeners.append(Listener(each, self._dispatch(name), self._limits(self.publisher.settings)))
            self._listeners[-1].start()
        self.publisher.subscribe(self._adopt_limits)
        return Address(*self._listeners[0].address)

    def _adopt_limits(self, _: Update, settings: Settings) -> None:
        """Limits may be changed while the broker runs."""
        for listener in self._listeners:
            listener.limits = self._limits(settings)

    def _limits(self, settings: Settings) -> Limits:
        network = settings.network
        return Limits(
            max_frame_bytes=network.socket_request_max_bytes,
            max_connections=network.max_connections,
            max_connections_per_ip=network.max_connections_per_ip,
            max_connections_of_ip=dict(network.max_connections_per_ip_overrides),
            max_accepted_per_s=network.max_connection_creation_rate,
            patience=Patience(
                idle_s=network.connections_max_idle_ms / 1000 if network.connections_max_idle_ms >= 0 else inf,
                request_s=network.read_timeout_ms / 1000,
                reply_s=network.write_timeout_ms / 1000,
            ),
            backlog=network.socket_listen_backlog,
            send_buffer_bytes=self._where_set("socket.send.buffer.bytes", network.socket_send_buffer_bytes),
            receive_buffer_bytes=self._where_set("socket.receive.buffer.bytes", network.socket_receive_buffer_bytes),
        )

    def _where_set(self, name: str, size_bytes: int) -> int:
        """Kafka's default holds fast connections back: only a size that somebody wants is taken."""
        return size_bytes if name in self._settings.configs.effective else SYSTEM_CHOOSES

    def _dispatch(self, listener: str) -> Dispatch:
        told = [each.address for each in self._settings.network.advertised_listeners or () if each.name == listener]
        reachability = Reachability(str(told[0])) if told else None
        return Dispatch(
            REGISTRY,
            self.services,
            listener,
            metrics=self.metrics,
            monotonic_s=clock.monotonic_s,
            reachability=reachability,
        )

    def _observe(self) -> None:
        """Show the metrics where the settings want them; nobody looks, nothing is computed."""
        addresses = self._settings.metrics.metrics_listen
        observe_partitions(self.metrics, self.partitions)
        observe_cleaning(self.metrics, self.cleaning)
        observe_groups(self.metrics, self.groups, self.partitions)
        observe_connections(self.metrics, self._listeners)
        self.probe = LoopProbe(self.metrics, self._timers, clock.monotonic_s)
        if addresses:
            self.probe.start()
        for address in addresses:
            try:
                self._exporters.append(Exporter(self.metrics, *address))
            except OSError as error:
                raise StartError(f"metrics cannot be shown on {address}: {error.strerror}") from error

    def _client_listeners(self) -> list[Any]:
        network = self._settings.network
        return [each for each in network.listeners if each.name not in network.controller_listener_names]

    def _advertised(self, bound: list[tuple[str, socket.socket]]) -> list[AdvertisedListener]:
        """What the registration says: the advertised addresses, or those that are bound."""
        protocols = {each.name: SECURITY_PROTOCOLS.index(each.protocol) for each in self._client_listeners()}
        addresses = {name: each.getsockname()[:2] for name, each in bound}
        for each in self._settings.network.advertised_listeners or ():
            addresses[each.name] = (each.address.host, each.address.port or addresses[each.name][1])
        return [
            AdvertisedListener(name=name, host=host, port=port, security_protocol=protocols[name])
            for name, (host, port) in addresses.items()
            if name in protocols
        ]

    def _fail(self, reason: str) -> None:
        if self.failure is None:
            self.failure = reason
            log.critical("this node stops: %s", reason)
            self._on_failure()


class _LocalController:
    """The controller in this process. Answers wait until this node has carried out what they tell of."""

    def __init__(self, runtime: ControllerRuntime, publisher: Publisher) -> None:
        self._runtime = runtime
        self._publisher = publisher

    def submit(self, request: Request, api_version: int) -> Deferred[Response]:
        operation = operation_of(ApiKey(request.schema.api_key or 0))
        patience = patience_ms(request)
        deadline_ms = None if patience is None else clock.monotonic_ms() + patience
        answer: Deferred[Response] = Deferred()

        def committed(done: Deferred[Response]) -> None:
            error = done.error
            if error is None:
                self._publisher.settled().on_done(lambda _: answer.resolve(done.result()))
            else:
                answer.fail(_as_told(error))

        caller = Caller(api_version=api_version, deadline_ms=deadline_ms)
        self._runtime.submit(operation, request, caller).on_done(committed)
        return answer


def _as_told(error: Exception) -> Exception:
    """Why the controller refused, as handlers tell it."""
    if not isinstance(error, ApiError):
        return error
    if error.code == ErrorCode.NOT_CONTROLLER:
        return ControllerError(error.message or "")
    return RequestError(error.code, error.message)


class _Progress:
    """Tells how loading goes, if it takes long."""

    def __init__(self) -> None:
        self._told_ms = clock.monotonic_ms()

    def __call__(self, progress: LoadProgress) -> None:
        now_ms = clock.monotonic_ms()
        if now_ms - self._told_ms >= _TELL_MS:
            self._told_ms = now_ms
            log.warning("loading %s: %d of %d logs", progress.directory, progress.loaded, progress.total)


def _previous_epoch(logs: LogManager) -> int:
    """The broker's epoch before its last clean stop, if all directories know of it."""
    epochs = {directory.previous_broker_epoch for directory in logs.directories}
    epoch = epochs.pop() if len(epochs) == 1 else None
    return -1 if epoch is None else epoch


def _member_id(dice: Random) -> str:
    """A random UUID as Java writes it, for members of groups."""
    digits = bytes(Uuid(random_uuid(dice.randbytes))).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


async def _value(deferred: Deferred[T]) -> T:
    """Wait in the loop for a value."""
    if not deferred.is_done:
        done = asyncio.get_running_loop().create_future()
        deferred.on_done(lambda _: _wake(done))
        await done
    return deferred.result()


def _wake(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


async def _within(seconds: float, deferred: Deferred[T]) -> None:
    """Wait for a value, but not for ever."""
    try:
        async with asyncio.timeout(seconds):
            await _value(deferred)
    except TimeoutError:
        log.warning("stopping takes more than %d s: going on without", seconds)
