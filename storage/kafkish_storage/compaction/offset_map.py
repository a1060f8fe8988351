"""The last offset of each key, in a fixed amount of memory.

A table with open addressing in one buffer: 16 bytes of a key's BLAKE2 and 8 of an offset for each slot. Keys are not
kept. Two keys with one hash would be taken for one, so the hash is one for which nobody can make such keys. The number
of slots is a prime, so that a search in steps of any width comes to every slot.
"""

from hashlib import blake2b
from math import isqrt
from typing import Final

_HASH_BYTES: Final = 16
SLOT_BYTES: Final = _HASH_BYTES + 8
_EMPTY: Final = bytes(8)


class OffsetMap:
    """Any thread, one at a time."""

    def __init__(self, buffer_bytes: int, load_factor: float) -> None:
        self._slots = _prime_up_to(max(2, buffer_bytes // SLOT_BYTES))
        self._table = bytearray(self._slots * SLOT_BYTES)
        self.capacity = min(self._slots - 1, max(1, int(self._slots * load_factor)))
        self.count = 0
        self.latest_offset = -1  # up to here, every record's key is in the map

    @property
    def is_full(self) -> bool:
        return self.count >= self.capacity

    def put(self, key: bytes, offset: int) -> None:
        digest, at, is_new = self._find(key)
        if is_new:
            self._table[at : at + _HASH_BYTES] = digest
            self.count += 1
        self._table[at + _HASH_BYTES : at + SLOT_BYTES] = (offset + 1).to_bytes(8, "big")  # never all zeros

    def get(self, key: bytes) -> int:
        """The key's last offset, or -1."""
        _, at, _ = self._find(key)
        return int.from_bytes(self._table[at + _HASH_BYTES : at + SLOT_BYTES], "big") - 1

    def _find(self, key: bytes) -> tuple[bytes, int, bool]:
        """The key's hash, its slot or the empty one that it would take, and whether that is empty."""
        digest = blake2b(key, digest_size=_HASH_BYTES).digest()
        slot = int.from_bytes(digest[:8], "little") % self._slots
        step = 1 + int.from_bytes(digest[8:], "little") % (self._slots - 1)
        table = self._table
        for _ in range(self._slots):
            at = slot * SLOT_BYTES
            if table[at : at + _HASH_BYTES] == digest:
                return digest, at, False
            if table[at + _HASH_BYTES : at + SLOT_BYTES] == _EMPTY:
                return digest, at, True
            slot = (slot + step) % self._slots
        raise AssertionError("the map is full")


def _prime_up_to(limit: int) -> int:
    """The largest prime that is not above the limit."""
    number = limit
    while any(number % divisor == 0 for divisor in range(2, isqrt(number) + 1)):
        number -= 1
    return number
