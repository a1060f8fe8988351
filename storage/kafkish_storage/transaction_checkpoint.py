"""Which segments have aborted transactions: the one fact that no other file could tell if a `.txnindex` were lost.

A segment without aborted transactions has no `.txnindex`, so a missing one looks like none. This file, which only logs
with aborted transactions have and which Kafka does not know, lists each with a checksum of its entries:

    0
    1
    42000 3127408829
"""

from collections.abc import Mapping
from typing import Final

from kafkish_storage.checkpoint import read_lines, write_lines
from kafkish_storage.errors import CorruptFileError
from kafkish_storage.files import Files

FILE_NAME: Final = "transaction-index-checkpoint"


def write_transaction_checkpoint(files: Files, directory: str, checksums: Mapping[int, int]) -> None:
    """Write the base offsets of segments and the checksums of their transaction indexes. Any thread."""
    lines = (f"{base_offset} {checksum}" for base_offset, checksum in sorted(checksums.items()))
    write_lines(files, f"{directory}/{FILE_NAME}", lines)


def read_transaction_checkpoint(files: Files, directory: str) -> dict[int, int]:
    """What was written; nothing if the file is damaged, for it can only make the loader look closer."""
    try:
        return dict(read_lines(files, f"{directory}/{FILE_NAME}", lambda words: (int(words[0]), int(words[1]))))
    except CorruptFileError:
        return {}
