"""What each segment's transaction index has: the one fact that no other file could tell if a `.txnindex` were lost.

This file, which Kafka does not know, lists the segments with checksums of their entries. A segment without aborted
transactions has no `.txnindex`, and the checksum 0. Whatever is not listed is looked up in the log (`aborted`):

    0
    2
    0 0
    42000 3127408829
"""

from collections.abc import Mapping
from typing import Final

from kafkish_storage.checkpoint import read_lines, write_lines
from kafkish_storage.errors import CorruptFileError
from kafkish_storage.files import Files, replace_file

FILE_NAME: Final = "transaction-index-checkpoint"


def write_transaction_checkpoint(files: Files, directory: str, checksums: Mapping[int, int]) -> None:
    """Write the base offsets of segments and the checksums of their transaction indexes. Any thread.

    Durable with the directory.
    """
    lines = (f"{base_offset} {checksum}" for base_offset, checksum in sorted(checksums.items()))
    write_lines(files, f"{directory}/{FILE_NAME}", lines, write=replace_file)


def read_transaction_checkpoint(files: Files, directory: str) -> dict[int, int]:
    """What was written; nothing if the file is damaged, for it can only make the loader look closer."""
    try:
        return dict(read_lines(files, f"{directory}/{FILE_NAME}", lambda words: (int(words[0]), int(words[1]))))
    except CorruptFileError:
        return {}
