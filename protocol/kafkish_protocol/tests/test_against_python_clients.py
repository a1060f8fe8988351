"""What we write, kio and kafka-python read, and write again as it was: every request and response in every version.

Neither can hold any value: kio has no durations of a million years, and both take a first ApiVersions response for one
of version 0. What they refuse to read does not count; what they read and write otherwise does.
"""

import importlib
import io
import pkgutil
import random
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import kafka.protocol
import pytest
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import OutOfBoundValue

from kafkish_protocol.schema import Message, Request, Response
from kafkish_protocol.tests.catalog import all_versions
from kafkish_protocol.tests.samples import sample

Rewrite: TypeAlias = Callable[[bytes], bytes]

ENOUGH, PATIENCE = 5, 100
BEYOND_THEM = (ValueError, OverflowError, OutOfBoundValue)

VERSIONS = [(message, version) for message, version in all_versions() if issubclass(message, Request | Response)]


def kio(message: type[Message], version: int) -> Rewrite:
    """kio has a class for each version."""
    api, kind = message.__module__.rpartition(".")[2], "request" if issubclass(message, Request) else "response"
    entity = getattr(importlib.import_module(f"kio.schema.{api}.v{version}.{kind}"), message.schema.name)
    read, write = entity_reader(entity), entity_writer(entity)

    def rewrite(data: bytes) -> bytes:
        value, size = read(data, 0)
        assert size == len(data)
        with io.BytesIO() as out:
            write(out, value)
            return out.getvalue()

    return rewrite


@cache
def classes_of_kafka_python() -> dict[str, Any]:
    """By Kafka's name of the message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [found.name for found in pkgutil.walk_packages(kafka.protocol.__path__, "kafka.protocol.")]
        modules = [importlib.import_module(name) for name in names]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if hasattr(value, "min_version") and isinstance(value, type)
    }


def kafka_python(message: type[Message], version: int) -> Rewrite | None:
    """None where it does not know the message or the version, or takes it for another."""
    kind = classes_of_kafka_python().get(message.schema.name)
    if kind is None or version not in range(kind.min_version, kind.max_version + 1):
        return None
    if message.schema.name == "ApiVersionsResponse" and version:
        return None

    def rewrite(data: bytes) -> bytes:
        value = kind.decode(data, version=version)
        value._header = value._min_version = value._max_version = None  # as its own constructor leaves them
        return bytes(value.encode(version=version))

    return rewrite


def rewritten(message: type[Message], version: int, rewrite: Rewrite, dice: random.Random) -> int:
    """How many values came back as they were; those that came back otherwise fail."""
    same = 0
    for _ in range(PATIENCE):
        data = sample(message, version, dice).encode(version)
        try:
            again = rewrite(data)
        except BEYOND_THEM:
            continue
        assert again == data
        same += 1
        if same == ENOUGH:
            break
    return same


@pytest.mark.parametrize("library", [kio, kafka_python])
def test_other_libraries_read_every_version_and_write_it_again(
    library: Callable[[type[Message], int], Rewrite | None], show: Callable[[str], None]
) -> None:
    dice = random.Random(19)
    counts = {
        (message.schema.name, version): rewritten(message, version, rewrite, dice)
        for message, version in VERSIONS
        if (rewrite := library(message, version)) is not None
    }
    show(f"{len(counts)} versions of messages through {library.__name__}, {sum(counts.values())} values as they were")
    assert [place for place, count in counts.items() if count == 0] == []
    assert len(counts) > len(VERSIONS) * 0.7
