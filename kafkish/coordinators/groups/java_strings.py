"""Strings as Java counts them: in 16-bit units."""


def utf16_length(text: str) -> int:
    """Java's `String.length`."""
    return len(text) if text.isascii() else len(_utf16(text)) // 2


def java_hash(text: str) -> int:
    """Java's `String.hashCode`, a signed 32-bit number."""
    units = _utf16(text)
    value = 0
    for i in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[i : i + 2], "big")) & 0xFFFF_FFFF
    return value - 0x1_0000_0000 if value & 0x8000_0000 else value


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
