"""Keeps the last record of each key: chosen on the owner's thread, copied by a worker, swapped in on the owner's."""

from kafkish_storage.compaction.choice import Candidate, choose
from kafkish_storage.compaction.copying import CompactionStats
from kafkish_storage.compaction.job import CompactionJob
from kafkish_storage.compaction.throttle import Throttle

__all__ = ["Candidate", "CompactionJob", "CompactionStats", "Throttle", "choose"]
