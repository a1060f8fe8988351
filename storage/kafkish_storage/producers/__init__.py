"""What a log remembers of its producers: to know duplicates from gaps, and open transactions from ended ones."""

from kafkish_storage.producers.entry import BatchMetadata, ProducerEntry
from kafkish_storage.producers.rules import Origin, VerificationGuard
from kafkish_storage.producers.state import CompletedTransaction, ProducerState

__all__ = ["BatchMetadata", "CompletedTransaction", "Origin", "ProducerEntry", "ProducerState", "VerificationGuard"]
