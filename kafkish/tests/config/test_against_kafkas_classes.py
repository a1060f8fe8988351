"""What Kafka would refuse to start with, kafkish refuses to start with; what Java reads in a file, kafkish reads."""

import random
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import apache_kafka
import pytest

from kafkish.config.checks import UNSERVED, check_broker, check_start
from kafkish.config.names import with_node_id
from kafkish.config.node import NodeConfigs
from kafkish.config.properties import MalformedPropertyError, parse_properties
from kafkish.config.tables import BROKER
from kafkish.config.types import ConfigError, ResourceType
from kafkish.config.validate import validate
from kafkish.tests.config import differences
from kafkish.tests.config.test_against_kafka import BROKER_TEXTS

pytestmark = pytest.mark.kafka

BASE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "log.dirs": "somewhere",
}
Complaint = str | None
"""None: Kafka has nothing against it."""


def ask(questions: Sequence[Sequence[str]]) -> list[list[str] | Complaint]:
    """Ask Kafka's classes: each question is a word and texts. The answer is texts, or a complaint."""
    lines = "".join(" ".join([word, *map(encode, texts)]) + "\n" for word, *texts in questions)
    program = apache_kafka.java(str(Path(__file__).parent / "java" / "ConfigOracle.java"))
    run = subprocess.run(program, input=lines.encode(), capture_output=True, check=True)
    answers = run.stdout.decode().splitlines()
    assert len(answers) == len(questions), run.stderr.decode()
    return [decode(line[1:]) if line.startswith("!") else [decode(text) for text in line.split()] for line in answers]


def encode(text: str) -> str:
    return "=" + b64encode(text.encode("utf-8", "surrogatepass")).decode()


def decode(text: str) -> str:
    return b64decode(text[1:]).decode()


def complaint(static: Mapping[str, str]) -> Complaint:
    """Why kafkish would not start; what it does not serve yet is not counted."""
    configs = NodeConfigs(static)
    try:
        check_broker(configs)
        if not any(asked_for(configs) for _, asked_for in UNSERVED):
            check_start(configs)
    except ConfigError as error:
        return error.message
    return None


def property_sets() -> Iterator[dict[str, str]]:
    for name in BROKER:
        if not name.startswith("kafkish."):
            yield from ({**BASE, name: text} for text in BROKER_TEXTS)
    yield from ({**BASE, **texts} for texts in TOGETHER)


TOGETHER: list[dict[str, str]] = [
    {"broker.id": "2"},
    {"process.roles": "broker"},
    {"process.roles": "controller"},
    {"process.roles": "broker", "node.id": "2"},
    {"process.roles": "broker", "node.id": "2", "listeners": "PLAINTEXT://127.0.0.1:9092"},
    {"process.roles": "controller", "listeners": "CONTROLLER://127.0.0.1:9093"},
    {"process.roles": "controller", "listeners": "CONTROLLER://127.0.0.1:9093", "node.id": "3"},
    {"process.roles": "broker,controller,broker"},
    {"controller.listener.names": "CONTROLLER,OTHER"},
    {"controller.listener.names": "PLAINTEXT"},
    {"controller.listener.names": "PLAINTEXT,CONTROLLER"},
    {"listeners": "PLAINTEXT://127.0.0.1:9092"},
    {"listeners": "plaintext://:9092,controller://:9093"},
    {"listeners": "PLAINTEXT://:9092,CONTROLLER://:9092"},
    {"listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://[::1]:9092"},
    {"listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.2:9092"},
    {"listeners": "PLAINTEXT://:0,CONTROLLER://:0"},
    {"listeners": "PLAINTEXT://:9092,PLAINTEXT://:9094,CONTROLLER://:9093"},
    {"listeners": "INTERNAL://:9092,CONTROLLER://:9093"},
    {"listeners": "INTERNAL://:9092,CONTROLLER://:9093", "inter.broker.listener.name": "INTERNAL"},
    {
        "listeners": "INTERNAL://:9092,CONTROLLER://:9093",
        "inter.broker.listener.name": "internal",
        "listener.security.protocol.map": "INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
    },
    {"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "PLAINTEXT"},
    {"inter.broker.listener.name": "CONTROLLER"},
    {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT"},
    {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:NOTHING"},
    {"advertised.listeners": "PLAINTEXT://broker.example:9092"},
    {"advertised.listeners": "PLAINTEXT://0.0.0.0:9092"},
    {"advertised.listeners": "SSL://broker.example:9092"},
    {"advertised.listeners": "PLAINTEXT://a:9092,PLAINTEXT://b:9092"},
    {"advertised.listeners": "CONTROLLER://broker.example:9093"},
    {"controller.quorum.voters": "2@127.0.0.1:9093"},
    {"controller.quorum.voters": "1@127.0.0.1"},
    {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "127.0.0.1:9093"},
    {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "127.0.0.1"},
    {"log.cleaner.threads": "200"},
    {"log.retention.ms": "-5"},
    {"log.retention.minutes": "0"},
    {"log.retention.minutes": "0", "log.retention.ms": "5"},
    {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "127.0.0.1:5"},
    {"max.connections.per.ip.overrides": "127.0.0.1:five"},
    {"queued.max.request.bytes": "104857600"},
    {"queued.max.request.bytes": "104857599"},
    {"group.consumer.heartbeat.interval.ms": "15000", "group.consumer.session.timeout.ms": "45000"},
    {"group.consumer.max.heartbeat.interval.ms": "60000", "group.consumer.heartbeat.interval.ms": "50000"},
    {"group.coordinator.rebalance.protocols": "consumer"},
    {"group.share.assignors": "simple,simple"},
    {"connections.max.idle.ms": "100"},
    {"connections.max.idle.ms": "-1"},
]


def test_kafkish_starts_with_what_kafka_starts_with_and_with_nothing_else(show: Callable[[str], None]) -> None:
    sets = list(property_sets())
    answers = ask([["broker", *(text for pair in with_node_id(each).items() for text in pair)] for each in sets])
    differing = [
        ({key: text for key, text in each.items() if BASE.get(key) != text}, answer, complaint(each))
        for each, answer in zip(sets, answers, strict=True)
        if isinstance(answer, str) != (complaint(each) is not None)
    ]
    assert [each for each in differing if differences.reason_to_start_or_not(each[0]) is None] == []
    equal = len(sets) - len(differing)
    show(f"broker properties taken or refused as by Kafka's own class: {equal} of {len(sets)}, the others on purpose")


FILES = [
    "",
    "a=b",
    "a:b\nc d\ne\tf\ng\fh",
    "  a = b  \n",
    "a==b\na2=:b\na3 :=b",
    "key\nkey2=\nkey3:",
    "# comment\n! comment\n  # comment\na=#b",
    "# comment \\\na=1",
    "a=b\\\n   c\\\n\td",
    "a=b\\\\\nc=d",
    "a=b\\\n# not a comment\nc=d",
    "a=b\\\n\nc=d",
    "a=b\\",
    "a\\=b=c\na\\ b=c\na\\:b:c",
    'a=\\t\\n\\r\\f\\z\\\\\\"',
    "a=\\u00e4\\u20AC\\ud83d\\ude00",
    "a=\xe4\xf6",
    "a=1\ra=2\r\nb=3\n\rc=4",
    "a=1\na=2",
    "=b",
    " \t\f \na=1",
    "log.dirs = /one , /two",
    "ssl.truststore.certificates=-----BEGIN\\\n  MIIB\\\n  -----END",
]


def read(text: str) -> list[str]:
    properties = {name: value for name, value, _ in parse_properties(text)}
    return [each for pair in sorted(properties.items()) for each in pair]


def test_properties_are_read_as_java_reads_them() -> None:
    dice = random.Random(4_3_0)
    texts = FILES + [
        "".join(dice.choices("ab=: \t\f\\\\\\\n\n\r#!u0", k=dice.randrange(40))) + "\nz" for _ in range(5000)
    ]
    for text, answer in zip(texts, ask([["properties", text] for text in texts]), strict=True):
        if isinstance(answer, str):
            with pytest.raises(MalformedPropertyError):
                read(text)
        else:
            assert read(text) == answer, repr(text)


REMOTE: list[dict[str, str]] = [
    {},
    {"cleanup.policy": "compact"},
    {"cleanup.policy": "compact,delete"},
    {"cleanup.policy": ""},
    {"local.retention.ms": "-1"},
    {"local.retention.ms": "5", "retention.ms": "4"},
    {"local.retention.ms": "5", "retention.ms": "5"},
    {"local.retention.ms": "-1", "retention.ms": "-1"},
    {"local.retention.ms": "5", "retention.ms": "-1"},
    {"local.retention.bytes": "-1"},
    {"local.retention.bytes": "5"},
    {"local.retention.bytes": "5", "retention.bytes": "4"},
    {"local.retention.bytes": "-1", "retention.bytes": "4"},
    {"local.retention.bytes": "4", "retention.bytes": "-7"},
    {"remote.log.copy.disable": "true"},
    {"remote.log.copy.disable": "true", "local.retention.ms": "5"},
    {"remote.log.copy.disable": "true", "local.retention.ms": "5", "retention.ms": "5"},
    {"remote.log.copy.disable": "true", "local.retention.bytes": "5"},
    {"remote.log.copy.disable": "true", "local.retention.bytes": "5", "retention.bytes": "6"},
    {"min.compaction.lag.ms": "6", "max.compaction.lag.ms": "5"},
]


def test_remote_storage_is_checked_in_kafkas_words() -> None:
    node = NodeConfigs({**BASE, "remote.log.storage.system.enable": "true"})
    sets = [{**configs, "remote.storage.enable": "true"} for configs in REMOTE]
    answers = ask([["topic", *(text for pair in each.items() for text in pair)] for each in sets])
    for configs, answer in zip(sets, answers, strict=True):
        assert (answer or None) == refusal_of_topic(configs, node), configs


def refusal_of_topic(configs: Mapping[str, str], node: NodeConfigs) -> Complaint:
    try:
        validate(ResourceType.TOPIC, "topic", configs, {}, node)
    except ConfigError as error:
        return error.message
    return None
