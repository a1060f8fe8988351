"""The last offset of each key, in a fixed amount of memory.

A table with open addressing in one buffer: 16 bytes of a key's BLAKE2 and 8 of an offset for each slot. Keys are not
kept. Two keys with one hash would be taken for one, so the hash is one for which nobody can make such keys. The number
of slots is a prime, so that a search in steps of any width comes to every slot.
"""

import mmap
import struct
from hashlib import blake2b
from math import isqrt
from typing import Final

_HASH_BYTES: Final = 16
_HASH: Final = struct.Struct("<QQ")
SLOT_BYTES: Final = _HASH_BYTES + 8
_EMPTY: Final = bytes(SLOT_BYTES)
_LARGEST_GAP: Final = 400  # between primes of this size there are never as many numbers


class OffsetMap:
    """Any thread, one at a time."""

    def __init__(self, buffer_bytes: int, load_factor: float, most_keys: int | None = None) -> None:
        """Take a buffer, or as much of it as this many keys can need."""
        slots = buffer_bytes // SLOT_BYTES
        if most_keys is not None:
            slots = min(slots, int(most_keys / load_factor) + _LARGEST_GAP)
        self._slots = _prime_up_to(max(2, slots))
        self._table = mmap.mmap(-1, self._slots * SLOT_BYTES)  # memory that is taken as it is filled
        self.capacity = min(self._slots - 1, max(1, int(self._slots * load_factor)))
        self.count = 0
        self.latest_offset = -1  # up to here, every record's key is in the map

    @property
    def is_full(self) -> bool:
        return self.count >= self.capacity

    def put(self, key: bytes, offset: int) -> None:
        digest, at, entry = self._find(key)
        if entry is None:
            self.count += 1
        self._table[at : at + SLOT_BYTES] = digest + (offset + 1).to_bytes(8, "big")  # never all zeros

    def get(self, key: bytes) -> int:
        """The key's last offset, or -1."""
        _, _, entry = self._find(key)
        return int.from_bytes(entry[_HASH_BYTES:], "big") - 1 if entry is not None else -1

    def _find(self, key: bytes) -> tuple[bytes, int, bytes | None]:
        """The key's hash, where its slot is or would be, and what the slot holds, if anything."""
        digest = blake2b(key, digest_size=_HASH_BYTES).digest()
        first, second = _HASH.unpack(digest)
        table, slots = self._table, self._slots
        slot = first % slots
        for _ in range(slots):
            at = slot * SLOT_BYTES
            entry = table[at : at + SLOT_BYTES]
            if entry == _EMPTY:
                return digest, at, None
            if entry.startswith(digest):
                return digest, at, entry
            slot = (slot + 1 + second % (slots - 1)) % slots
        raise AssertionError("the map is full")


def _prime_up_to(limit: int) -> int:
    """The largest prime that is not above the limit."""
    number = limit
    while any(number % divisor == 0 for divisor in range(2, isqrt(number) + 1)):
        number -= 1
    return number
