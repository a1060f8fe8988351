"""Variable-length integers: unsigned in flexible messages, zigzag in records.

Readers take a whole buffer and a position and return (value, next position). They raise `Malformed`, or IndexError
past the end of the buffer; the caller knows the field and says so.
"""

from typing import Final, TypeAlias

from kafkish_protocol.errors import Malformed

Buffer: TypeAlias = bytes | bytearray | memoryview

_INT32_MAX: Final = 2**31 - 1


def read_uvarint(buffer: Buffer, position: int) -> tuple[int, int]:
    """Read an unsigned varint: at most 5 bytes, at most 31 bits.

    Kafka lets a 32nd bit turn the value negative, and a negative length into null. Here it is refused.
    """
    value = shift = 0
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > _INT32_MAX:
                raise Malformed(f"varint {value} is larger than 31 bits")
            return value, position
        shift += 7
        if shift > 28:
            raise Malformed("varint is longer than 5 bytes")


def write_uvarint(out: bytearray, value: int) -> None:
    """Append an unsigned varint."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def read_varint(buffer: Buffer, position: int, max_bytes: int = 5) -> tuple[int, int]:
    """Read a zigzag varint of at most `max_bytes` bytes: 5 for an int32, 10 for an int64."""
    byte = buffer[position]
    if byte < 0x80:  # most are that short
        return (byte >> 1) ^ -(byte & 1), position + 1
    value = shift = 0
    limit = 7 * max_bytes
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> (32 if max_bytes == 5 else 64):
                raise Malformed(f"varint is larger than {32 if max_bytes == 5 else 64} bits")
            return (value >> 1) ^ -(value & 1), position
        shift += 7
        if shift >= limit:
            raise Malformed(f"varint is longer than {max_bytes} bytes")


def write_varint(out: bytearray, value: int) -> None:
    """Append a zigzag varint of an int32 or int64."""
    value = (value << 1) ^ (value >> 63)
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
