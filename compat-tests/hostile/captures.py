"""Frames of real clients at work, and mutations of them."""

import random
import socket
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from clients.families import aio_kafka, kafka_python
from clients.families.base import FROM_START, Family, Record
from control import create_topic
from wire import Wire

_EDGES: Final = [struct.pack(">i", value) for value in (-(2**31), -2, -1, 0, 1, 2**16, 2**24, 2**31 - 1)]


@contextmanager
def recording() -> Iterator[list[bytes]]:
    """All that sockets of this process send, by whichever of two ways."""
    sent: list[bytes] = []
    saved = {name: getattr(socket.socket, name) for name in ("send", "sendall")}

    def record(name: str) -> Callable[..., Any]:
        def wrapper(self: socket.socket, data: Any, *rest: Any) -> Any:
            sent.append(bytes(data))
            return saved[name](self, data, *rest)

        return wrapper

    for name in saved:
        setattr(socket.socket, name, record(name))
    try:
        yield sent
    finally:
        for name, method in saved.items():
            setattr(socket.socket, name, method)


def work(family: Family, topic: str, group: str) -> None:
    """A little of everything that a client does."""
    family.produce(topic, [Record(b"value %d" % n, b"key", (("h", b"1"),)) for n in range(5)])
    with family.consumer({**FROM_START, "group.id": group}) as consumer:
        consumer.subscribe([topic])
        consumer.take(5)
        consumer.commit({(topic, 0): (3, "half")})
        consumer.offsets_for_times({(topic, 0): 0})
    with family.admin() as admin:
        admin.list_topics()
        admin.describe_topic(topic)
        admin.describe_configs("topic", topic)
        admin.list_groups()
        admin.describe_group(group)
        admin.group_offsets(group)
        admin.delete_records((topic, 0), 1)
        admin.describe_cluster()


def capture(address: str) -> dict[int, list[bytes]]:
    """Whole request frames of two clients, by API key."""
    with recording() as sent:
        for family in (kafka_python.Family(address), aio_kafka.Family(address)):
            with Wire(address) as wire:
                create_topic(wire, f"captured-{family.name}")
            work(family, f"captured-{family.name}", f"captured-{family.name}")
            family.close()
    frames: dict[int, list[bytes]] = defaultdict(list)
    for data in sent:
        for frame in whole_frames(data):
            frames[api_key(frame)].append(frame)
    return frames


def whole_frames(data: bytes) -> Iterator[bytes]:
    while len(data) >= 8 and (size := int.from_bytes(data[:4], "big")) + 4 <= len(data):
        yield data[: size + 4]
        data = data[size + 4 :]


def api_key(frame: bytes) -> int:
    return int.from_bytes(frame[4:6], "big", signed=True)


def mutated(frame: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """One to three small damages; the length fits again, most of the time."""
    data = bytearray(frame[4:])
    for _ in range(dice.randint(1, 3)):
        _damage(data, others, dice)
    size = len(data) if dice.random() < 0.97 else dice.choice((len(data) - 1, len(data) + 9, dice.getrandbits(31)))
    return struct.pack(">i", size) + bytes(data)


def _damage(data: bytearray, others: list[bytes], dice: random.Random) -> None:
    at = dice.randrange(len(data) + 1)
    kind = dice.randrange(6)
    if kind == 0 and at < len(data):
        data[at] ^= 1 << dice.randrange(8)
    elif kind == 1 and at < len(data):
        data[at] = dice.choice((0, 1, 0x7F, 0x80, 0xFF))
    elif kind == 2:
        data[at : at + 4] = dice.choice(_EDGES)
    elif kind == 3:
        del data[at : at + dice.randint(1, 8)]
    elif kind == 4:
        data[at:at] = dice.randbytes(dice.randint(1, 8))
    else:
        other = dice.choice(others)
        start = dice.randrange(len(other))
        data[at:] = other[start : start + 64]
