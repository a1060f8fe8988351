"""The names of files and directories, as Kafka has them."""

import re
from random import Random
from typing import Final, NamedTuple

LOG: Final = ".log"
OFFSET_INDEX: Final = ".index"
TIME_INDEX: Final = ".timeindex"
TRANSACTION_INDEX: Final = ".txnindex"
SNAPSHOT: Final = ".snapshot"

SEGMENT_KINDS: Final = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
INDEX_KINDS: Final = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

DELETED: Final = ".deleted"
CLEANED: Final = ".cleaned"
SWAP: Final = ".swap"

METADATA_TOPIC: Final = "__cluster_metadata"

_LONGEST_NAME: Final = 255
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_SEGMENT_FILE: Final = re.compile(r"(\d{20})(\.[a-z]+)(\.[a-z]+)?")
_DIRECTORY: Final = re.compile(r"(.+?)-(\d+)(?:\.([0-9a-f]{32})-(delete|future|stray))?")


class TopicPartition(NamedTuple):
    """A partition's name, and that of its directory."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class SegmentFile(NamedTuple):
    """What the name of a file in a partition's directory says."""

    offset: int
    kind: str
    suffix: str


class PartitionDirectory(NamedTuple):
    """What the name of a partition's directory says; `state` is "", "delete", "future" or "stray"."""

    partition: TopicPartition
    state: str


def segment_file(offset: int, kind: str, suffix: str = "") -> str:
    return f"{offset:020d}{kind}{suffix}"


def parse_segment_file(name: str) -> SegmentFile | None:
    """None if the name does not begin with an offset; the kind may be one that only others know."""
    found = _SEGMENT_FILE.fullmatch(name)
    return SegmentFile(int(found[1]), found[2], found[3] or "") if found else None


def parse_partition_directory(name: str) -> PartitionDirectory | None:
    """None if it is not the name of a partition's directory."""
    found = _DIRECTORY.fullmatch(name)
    if found is None:
        return None
    return PartitionDirectory(TopicPartition(found[1], int(found[2])), found[4] or "")


def directory_in_state(partition: TopicPartition, state: str, dice: Random) -> str:
    """A fresh name for a directory that is to be deleted, is not yet current, or belongs to nobody."""
    suffix = f"-{partition.partition}.{dice.getrandbits(128):032x}-{state}"
    return partition.topic[: _LONGEST_NAME - len(suffix)] + suffix


def is_topic_name(name: str) -> bool:
    """Whether it can be part of a path: nothing else may ever reach a file's name."""
    return _TOPIC.fullmatch(name) is not None and name not in (".", "..")
