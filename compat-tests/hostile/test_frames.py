"""Frames that no client should send: the broker refuses each as Kafka does, and serves the next connection."""

import struct

import pytest
from brokers import Broker
from wire import Wire

METADATA, API_VERSIONS, VOTE = 3, 18, 52
NULL_STRING = struct.pack(">h", -1)


def frame(api: int, version: int, body: bytes, *, flexible: bool = False) -> bytes:
    """A request with correlation id 7 and no client id."""
    header = struct.pack(">hhi", api, version, 7) + NULL_STRING + (b"\0" if flexible else b"")
    return struct.pack(">i", len(header) + len(body)) + header + body


def names(*values: bytes) -> bytes:
    """The body of Metadata 1: an array of names."""
    return struct.pack(">i", len(values)) + b"".join(struct.pack(">h", len(value)) + value for value in values)


REFUSED = {
    "negative-length": struct.pack(">i", -1),
    "length-above-the-limit": struct.pack(">i", 104_857_601),
    "tls-hello": bytes.fromhex("16030100") + bytes(100),
    "http": b"GET / HTTP/1.1\r\n\r\n",
    "empty": struct.pack(">i", 0),
    "half-a-header": struct.pack(">ihh", 4, METADATA, 1),
    "unknown-api": frame(999, 0, b""),
    "negative-api": frame(-1, 0, b""),
    "api-of-controllers": frame(VOTE, 0, b"\0\1\0", flexible=True),
    "version-too-high": frame(METADATA, 99, names()),
    "negative-version": frame(METADATA, -1, names()),
    "version-only-advertised": frame(0, 2, struct.pack(">hii", -1, 1000, 0)),
    "truncated-body": frame(METADATA, 1, names(b"topic")[:-2]),
    "no-body": frame(METADATA, 1, b""),
    "more-elements-than-bytes": frame(METADATA, 1, struct.pack(">i", 2**31 - 1)),
    "negative-length-of-a-string": frame(METADATA, 1, struct.pack(">ih", 1, -1)),
    "varint-of-six-bytes": frame(METADATA, 9, b"\xff\xff\xff\xff\xff\x01", flexible=True),
    "more-tags-than-bytes": frame(METADATA, 9, b"\1\0\0\0\xff\xff\xff\xff\x07", flexible=True),
    "string-longer-than-the-frame": frame(METADATA, 1, struct.pack(">ih", 1, 30_000) + b"short"),
}


@pytest.mark.parametrize("sent", list(REFUSED.values()), ids=list(REFUSED))
def test_frame_that_cannot_be_read_closes_the_connection(broker: Broker, sent: bytes) -> None:
    with Wire(broker.address) as wire:
        wire.socket.sendall(sent)
        assert wire.closed_by_peer()
    with Wire(broker.address) as wire:
        assert wire.api_versions()


def test_good_request_before_a_bad_one_is_answered(wire: Wire) -> None:
    wire.socket.sendall(frame(METADATA, 1, names()) + frame(999, 0, b""))
    assert wire.receive_frame()[:4] == struct.pack(">i", 7)
    assert wire.closed_by_peer()


def test_unknown_version_of_api_versions_is_told_the_known_ones(wire: Wire) -> None:
    wire.socket.sendall(frame(API_VERSIONS, 99, b"\0\0\0", flexible=True))
    correlation_id, error, count, *first = struct.unpack(">ihihhh", wire.receive_frame())
    assert (correlation_id, error, count) == (7, 35, 1)
    assert first == [API_VERSIONS, 0, 4]
    assert wire.api_versions(), "the connection stays"


def test_bytes_after_the_body_are_ignored(wire: Wire) -> None:
    wire.socket.sendall(frame(METADATA, 1, names() + b"more than was asked for"))
    assert wire.receive_frame()[:4] == struct.pack(">i", 7)
    assert wire.api_versions()


def test_name_that_is_not_utf8_is_no_topic(wire: Wire) -> None:
    wire.socket.sendall(frame(METADATA, 1, names(b"\xff\xfe")))
    answer = wire.receive_frame()
    replaced = "\ufffd\ufffd".encode()
    error = answer[answer.index(replaced) - 4 : answer.index(replaced) - 2]
    assert int.from_bytes(error, "big") == 17
    assert wire.api_versions()


def test_request_in_pieces_is_answered(wire: Wire) -> None:
    for byte in frame(METADATA, 1, names()):
        wire.socket.sendall(bytes([byte]))
    assert wire.receive_frame()[:4] == struct.pack(">i", 7)


def test_announced_frame_that_never_comes_costs_nothing(broker: Broker) -> None:
    before = broker.memory_bytes()
    waiting = [Wire(broker.address) for _ in range(3)]
    try:
        for wire in waiting:
            wire.socket.sendall(struct.pack(">i", 100_000_000) + b"\0")
        with Wire(broker.address) as other:
            assert other.api_versions()
        if broker.kind == "kafkish":  # Kafka allocates what is announced
            assert broker.memory_bytes() - before < 50_000_000
    finally:
        for wire in waiting:
            wire.socket.close()
