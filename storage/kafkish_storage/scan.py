"""Walks a segment's file from batch to batch. Any thread; the file must not shrink meanwhile.

A header that cannot be, or a batch that does not end within the file, raises `CorruptLogError`: whoever is recovering
cuts there, whoever is reading reports it.
"""

from collections.abc import Iterator
from typing import Final

from kafkish_protocol.records import HEADER_BYTES, Batch, BatchHeader
from kafkish_storage.errors import CorruptLogError
from kafkish_storage.files import File

WINDOW_BYTES: Final = 32 * 1024
CHUNK_BYTES: Final = 1024 * 1024
_MAGIC: Final = 2


def walk(file: File, position: int, end: int, window_bytes: int = WINDOW_BYTES) -> Iterator[tuple[int, BatchHeader]]:
    """Each batch's position and header, from a position where a batch starts. Records are skipped, unread."""
    window, window_start = b"", position
    while position < end:
        if position + HEADER_BYTES > window_start + len(window):
            window, window_start = file.read(position, min(window_bytes, end - position)), position
        header = checked_header(file, window, position - window_start, position, end)
        yield position, header
        position += header.size_bytes


def scan(file: File, position: int, end: int, chunk_bytes: int = CHUNK_BYTES) -> Iterator[tuple[int, Batch]]:
    """Each batch's position and the whole batch. The checksum is for the caller to check."""
    chunk, chunk_start = memoryview(b""), position
    while position < end:
        at = position - chunk_start
        if at + HEADER_BYTES > len(chunk):
            chunk, chunk_start, at = _chunk(file, position, min(chunk_bytes, end - position)), position, 0
        header = checked_header(file, chunk, at, position, end)
        if at + header.size_bytes > len(chunk):
            length = min(max(chunk_bytes, header.size_bytes), end - position)
            chunk, chunk_start, at = _chunk(file, position, length), position, 0
        yield position, Batch(chunk, at)
        position += header.size_bytes


def _chunk(file: File, position: int, length: int) -> memoryview:
    return memoryview(file.read(position, length))


def checked_header(file: File, data: bytes | memoryview, at: int, position: int, end: int) -> BatchHeader:
    """The header in a buffer, if it can be one."""
    if len(data) - at < HEADER_BYTES:
        raise CorruptLogError(file.path, position, f"{end - position} bytes are too few for a batch")
    header = BatchHeader(data, at)
    if header.magic != _MAGIC:
        raise CorruptLogError(file.path, position, f"magic {header.magic}, expected {_MAGIC}")
    if not HEADER_BYTES <= header.size_bytes <= end - position:
        reason = f"a batch of {header.size_bytes} bytes, and {end - position} bytes are left"
        raise CorruptLogError(file.path, position, reason)
    if header.last_offset_delta < 0 or header.base_offset < 0:
        reason = f"offsets {header.base_offset} up to {header.last_offset} cannot be"
        raise CorruptLogError(file.path, position, reason)
    return header


def read_batch(file: File, position: int, header: BatchHeader) -> Batch:
    """The whole batch whose header was walked over."""
    return Batch(file.read(position, header.size_bytes))
