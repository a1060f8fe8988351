"""Our bytes are Kafka's bytes: every message and version, written by Kafka's own Java classes."""

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import apache_kafka
import pytest

from kafkish_protocol.schema import Message
from kafkish_protocol.tests.catalog import all_versions
from kafkish_protocol.tests.kafka_json import to_json
from kafkish_protocol.tests.samples import sample

pytestmark = pytest.mark.kafka

VALUES_PER_VERSION = 20
SOURCE = Path(__file__).parent / "java" / "MessageCodec.java"


def written_by_kafka(messages: list[tuple[Message, int]]) -> list[bytes]:
    """The same messages, written by Kafka."""
    lines = [f"{m.schema.name}\t{version}\t{json.dumps(to_json(m, version))}\n" for m, version in messages]
    run = subprocess.run(
        apache_kafka.java(str(SOURCE)), input="".join(lines), capture_output=True, text=True, check=False, timeout=240
    )
    assert run.returncode == 0, run.stderr
    return [bytes.fromhex(line) for line in run.stdout.splitlines()]


def test_every_message_in_every_version_has_kafkas_bytes(show: Callable[[str], None]) -> None:
    dice = random.Random(4_3_0)
    messages = [
        (message() if number == 0 and not _needs_value(message) else sample(message, version, dice), version)
        for message, version in all_versions()
        for number in range(VALUES_PER_VERSION)
    ]
    kafka = written_by_kafka(messages)
    assert len(kafka) == len(messages)
    different = []
    for (message, version), theirs in zip(messages, kafka, strict=True):
        if message.encode(version) != theirs or type(message).decode(theirs, version) != message:
            different.append(f"{message.schema.name} v{version}: {message}")
    show(
        f"{len({m.schema.name for m, _ in messages})} messages, {len(all_versions())} versions of them, "
        f"{VALUES_PER_VERSION} values each: {len(messages)} compared with Kafka's, {len(different)} differences"
    )
    assert different[:5] == []


def _needs_value(message: type[Message]) -> bool:
    """Kafka cannot write a FetchSnapshotResponse's defaults: its records are null and may not be."""
    return message.schema.name == "FetchSnapshotResponse"
