"""A broker put together: quorum, logs, partitions, coordinators, handlers, listeners. Wiring, and nothing else."""

import asyncio
import logging
import secrets
import socket
from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeVar

from kafkish import clock
from kafkish.config.addresses import SECURITY_PROTOCOLS, Address
from kafkish.config.settings import Settings
from kafkish.controller import operation
from kafkish.controller.node_configs import NodeConfigPort
from kafkish.controller.operation import ApiError
from kafkish.controller.operations import OPERATIONS
from kafkish.coordination import Coordination
from kafkish.coordinators.groups.coordinator import GroupCoordinator
from kafkish.coordinators.groups.settings import GroupSettings
from kafkish.coordinators.inputs import Now
from kafkish.coordinators.term import RuntimeSettings, Surroundings
from kafkish.deferred import Deferred
from kafkish.dispatch import Dispatch
from kafkish.handlers import catalog  # noqa: F401  # importing it registers the handlers
from kafkish.handlers.registry import REGISTRY
from kafkish.handlers.services import ControllerError, Node, Services
from kafkish.loop import LoopTimers, LoopWorkers
from kafkish.network.listener import Limits, ListenError, Listener, bind
from kafkish.partitions.fetch_session import FetchSessions
from kafkish.partitions.flusher import Flusher
from kafkish.partitions.housekeeping import Housekeeping
from kafkish.partitions.table import PartitionTable
from kafkish.producer_ids import ProducerIdBlocks
from kafkish.publisher import Publisher
from kafkish.quorum.formatting import SERVED_FEATURES, identify, read_bootstrap
from kafkish.quorum.local_broker import LocalBroker, RegistrationError
from kafkish.quorum.opening import open_quorum
from kafkish.quorum.runtime import Caller, ControllerRuntime
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.broker_registration import Listener as AdvertisedListener
from kafkish_protocol.records import Compression
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Uuid
from kafkish_storage import CleanerConfig, DiskFiles, LoadProgress, LogManager, ProducerConfig, StorageConfig
from kafkish_storage.errors import StorageError

log = logging.getLogger("kafkish.broker")

T = TypeVar("T")

_WORKER_THREADS: Final = 4
_PATIENCE_S: Final = 30


class StartError(Exception):
    """The broker cannot start; the text says why, and what to do."""
