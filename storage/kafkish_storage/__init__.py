"""A segmented, append-only log of opaque record batches, in Kafka's own file formats."""

from kafkish_storage.config import CleanerConfig, LogConfig, ProducerConfig
from kafkish_storage.files import DiskFiles, Files, write_atomically
from kafkish_storage.loading import LoadOptions, load_log
from kafkish_storage.log import Appended, Log
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import LoadProgress, StorageConfig
from kafkish_storage.producers import Origin, VerificationGuard
from kafkish_storage.properties import MetaProperties, read_meta_properties, write_meta_properties
from kafkish_storage.reading import Read, Slice
from kafkish_storage.segment import TimestampOffset
from kafkish_storage.transaction_index import AbortedTransaction

__all__ = [
    "AbortedTransaction",
    "Appended",
    "CleanerConfig",
    "DiskFiles",
    "Files",
    "LoadOptions",
    "LoadProgress",
    "Log",
    "LogConfig",
    "LogManager",
    "MetaProperties",
    "NewLog",
    "Origin",
    "ProducerConfig",
    "Read",
    "Slice",
    "StorageConfig",
    "TimestampOffset",
    "TopicPartition",
    "VerificationGuard",
    "load_log",
    "read_meta_properties",
    "write_atomically",
    "write_meta_properties",
]
