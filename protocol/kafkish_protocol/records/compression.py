"""The five ways in which a batch's records are packed. Each codec's library is loaded at its first use.

Unpacking is a stream of chunks with a bound on their sum, so that a small batch that unpacks to gigabytes is refused
when it passes the bound, with one chunk in memory.
"""

import zlib
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import cache
from typing import Any, Final, Protocol

from kafkish_protocol.records.errors import InvalidRecordError, TooLargeError, UnknownCompressionError
from kafkish_protocol.varint import Buffer, read_uvarint

_CHUNK_BYTES: Final = 128 * 1024
_INPUT_BYTES: Final = 16 * 1024
_MAX_FRAMES: Final = 1000  # one is usual; a frame of nothing still costs a decompressor

_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = _XERIAL_MAGIC + (1).to_bytes(4, "big") * 2
_XERIAL_BLOCK_BYTES: Final = 32 * 1024
_SNAPPY_MAX_RATIO: Final = 22  # a copy of 64 bytes takes 3


class Compression(IntEnum):
    """The number in a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @classmethod
    def of(cls, attributes: int) -> "Compression":
        """The compression that a batch's attributes name."""
        try:
            return _BY_NUMBER[attributes & 7]
        except IndexError:
            raise UnknownCompressionError(f"compression {attributes & 7} does not exist", path="attributes") from None


_BY_NUMBER: Final = tuple(Compression)


def default_limit_bytes(compressed_bytes: int) -> int:
    """How much a batch may unpack to if nobody says: generous for data, small for a bomb."""
    return max(16 * 1024 * 1024, 16 * compressed_bytes)


def compress(compression: Compression, data: Buffer, level: int | None = None) -> bytes:
    """Pack a block of records; `level` as the codec counts it, None for its own default."""
    match compression:
        case Compression.NONE:
            return bytes(data)
        case Compression.GZIP:
            packer = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, 31)
            return packer.compress(data) + packer.flush()
        case Compression.SNAPPY:
            return _compress_snappy(data)
        case Compression.LZ4:
            import lz4.frame  # noqa: PLC0415  # at first use

            # Kafka's reader takes independent blocks only.
            packed: bytes = lz4.frame.compress(
                data, compression_level=level or 0, block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_linked=False,
                store_size=False,
            )  # fmt: skip
            return packed
        case Compression.ZSTD:
            packed = _zstd().compress(data, level=level)
            return packed


def decompress(compression: Compression, data: Buffer, limit_bytes: int) -> Iterator[bytes]:
    """Unpack a block of records in chunks; refuses as soon as the sum passes `limit_bytes`."""
    total = 0
    for chunk in _unpacked(compression, data, limit_bytes):
        total += len(chunk)
        if total > limit_bytes:
            raise TooLargeError(f"the records unpack to more than {limit_bytes} bytes", path="records")
        yield chunk


def _unpacked(compression: Compression, data: Buffer, limit_bytes: int) -> Iterator[bytes]:
    match compression:
        case Compression.NONE:
            if len(data):  # a batch that compaction has emptied
                yield bytes(data)
        case Compression.GZIP:
            yield from _stream(_Gunzip, data, "gzip", (zlib.error,))
        case Compression.SNAPPY:
            yield from _decompress_snappy(data, limit_bytes)
        case Compression.LZ4:
            import lz4.frame  # noqa: PLC0415  # at first use

            yield from _stream(lz4.frame.LZ4FrameDecompressor, data, "lz4", (RuntimeError, EOFError))
        case Compression.ZSTD:
            yield from _stream(_zstd().ZstdDecompressor, data, "zstd", (_zstd().ZstdError, EOFError))


# -- gzip, lz4, zstd: streams


class _Decompressor(Protocol):
    """The interface that Python's decompressors have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes | None: ...
    def decompress(self, data: Buffer, max_length: int = -1) -> bytes: ...


class _Gunzip:
    """zlib's decompressor with the interface of the others."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(31)
        self._rest = b""

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: Buffer, max_length: int = -1) -> bytes:
        chunk = self._zlib.decompress(self._rest + data if self._rest else data, max_length)
        self._rest = self._zlib.unconsumed_tail
        return chunk


def _stream(
    make: Callable[[], _Decompressor], data: Buffer, name: str, faults: tuple[type[Exception], ...]
) -> Iterator[bytes]:
    """Feed decompressors, one for each frame that follows another, and take what they give."""
    unpacker, frames, position, carried = make(), 1, 0, b""
    try:
        while True:
            piece: Buffer = carried
            if not carried and unpacker.needs_input:
                piece = data[position : position + _INPUT_BYTES]
                position += len(piece)
            carried = b""
            chunk = unpacker.decompress(piece, _CHUNK_BYTES)
            if chunk:
                yield chunk
            if unpacker.eof:
                carried = unpacker.unused_data or b""
                if not carried and position >= len(data):
                    return
                if frames == _MAX_FRAMES:
                    raise InvalidRecordError(f"more than {_MAX_FRAMES} {name} frames", path="records")
                unpacker, frames = make(), frames + 1
            elif not chunk and position >= len(data):
                raise InvalidRecordError(f"the {name} data ends too soon", path="records")
    except faults as error:
        raise InvalidRecordError(f"the {name} data is damaged: {error}", path="records") from None


@cache
def _zstd() -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found]  # noqa: PLC0415  # Python 3.14 and newer
    except ImportError:
        from backports import zstd  # noqa: PLC0415
    return zstd


# -- snappy: blocks, with the lengths in front


def _compress_snappy(data: Buffer) -> bytes:
    """Xerial's framing, as Kafka's Java clients write and every client reads."""
    import cramjam  # noqa: PLC0415  # at first use

    out = bytearray(_XERIAL_HEADER)
    view = memoryview(data)
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        out += len(block).to_bytes(4, "big")
        out += block
    return bytes(out)


def _decompress_snappy(data: Buffer, limit_bytes: int) -> Iterator[bytes]:
    """Xerial's framing, or one bare block, as librdkafka and others write."""
    view = memoryview(data)
    if bytes(view[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        yield _snappy_block(view, limit_bytes)
        return
    position = len(_XERIAL_HEADER)
    while position < len(view):
        length = int.from_bytes(view[position : position + 4], "big")
        position += 4
        if length > len(view) - position:
            raise InvalidRecordError(f"a snappy block of {length} bytes, {len(view) - position} left", path="records")
        yield _snappy_block(view[position : position + length], limit_bytes)
        position += length


def _snappy_block(block: memoryview, limit_bytes: int) -> bytes:
    """One block. It says how long it will be: that is checked before anything is allocated."""
    import cramjam  # noqa: PLC0415  # at first use

    try:
        length, _ = read_uvarint(block, 0)
        if length > limit_bytes:
            raise TooLargeError(f"the records unpack to more than {limit_bytes} bytes", path="records")
        if length > _SNAPPY_MAX_RATIO * len(block):
            raise InvalidRecordError(f"{len(block)} bytes of snappy cannot hold {length}", path="records")
        return bytes(cramjam.snappy.decompress_raw(block))
    except InvalidRecordError:
        raise
    except Exception as error:  # cramjam, the varint reader and an empty block each raise their own
        raise InvalidRecordError(f"the snappy data is damaged: {error}", path="records") from None
