"""Kafka's own command-line tools, called as their scripts call them, in one JVM where they allow it."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apache_kafka
import batches
import control
import pytest
from brokers import Broker
from jvm import Jvm, ToolRun
from wire import Wire

pytestmark = pytest.mark.kafka

TOOLS = "org.apache.kafka.tools."
COUNT = 2000


class Toolbox:
    """Runs tools against one broker."""

    def __init__(self, jvm: Jvm, address: str) -> None:
        self._jvm, self._address = jvm, address

    def run(self, tool: str, *arguments: str, stdin: str = "", status: int = 0) -> ToolRun:
        """Run a tool that should end with `status`; a name without a package is one of Kafka's tools."""
        name = tool if tool.startswith("kafka.") else TOOLS + tool
        run = self._jvm.tool(name, "--bootstrap-server", self._address, *arguments, stdin=stdin)
        assert run.status == status, run
        return run

    def topics(self, *arguments: str, status: int = 0) -> ToolRun:
        return self.run("TopicCommand", *arguments, status=status)

    def configs(self, *arguments: str, status: int = 0) -> ToolRun:
        return self.run("kafka.admin.ConfigCommand", *arguments, status=status)

    def groups(self, *arguments: str, status: int = 0) -> ToolRun:
        return self.run("consumer.group.ConsumerGroupCommand", *arguments, status=status)

    def offsets(self, topic: str, *arguments: str) -> list[str]:
        return self.run("GetOffsetShell", "--topic", topic, *arguments).out.split()

    def consume(self, topic: str, count: int, *arguments: str) -> list[str]:
        """Values, or what the formatter's properties ask for, of `count` records from the start."""
        wanted = ["--topic", topic, "--from-beginning", "--max-messages", str(count)]
        run = self.run("consumer.ConsoleConsumer", *wanted, *arguments)
        assert f"Processed a total of {count} messages" in run.err, run
        return run.out.splitlines()


@pytest.fixture
def tools(jvm: Jvm, broker: Broker) -> Toolbox:
    return Toolbox(jvm, broker.address)


def rows(run: ToolRun) -> list[list[str]]:
    """A table's lines below its head, as words."""
    lines = [line.split() for line in run.out.splitlines() if line.strip()]
    return lines[1:]


# -- topics


def test_topic_is_created_listed_described_grown_and_deleted(tools: Toolbox, fresh: Callable[[str], str]) -> None:
    topic = fresh("topic")
    made = tools.topics("--create", "--topic", topic, "--partitions", "2", "--config", "retention.ms=-1")
    assert f"Created topic {topic}." in made.out
    assert topic in tools.topics("--list").out.split()
    head, *partitions = tools.topics("--describe", "--topic", topic).out.splitlines()
    assert "PartitionCount: 2\tReplicationFactor: 1" in head
    assert "retention.ms=-1" in head
    assert len(partitions) == 2
    assert all(re.search(r"Leader: (\d+)\tReplicas: \1\tIsr: \1", line) for line in partitions)
    tools.topics("--alter", "--topic", topic, "--partitions", "3")
    assert len(tools.topics("--describe", "--topic", topic).out.splitlines()) == 4
    tools.topics("--delete", "--topic", topic)
    assert topic not in tools.topics("--list").out.split()


def test_topic_that_exists_is_not_created_again(tools: Toolbox, topic: str) -> None:
    refused = tools.topics("--create", "--topic", topic, status=1)
    assert f"Topic '{topic}' already exists." in refused.out + refused.err
    tools.topics("--create", "--topic", topic, "--if-not-exists")


def test_nothing_is_under_replicated(tools: Toolbox, topic: str) -> None:
    for state in ("--under-replicated-partitions", "--unavailable-partitions", "--under-min-isr-partitions"):
        assert topic not in tools.topics("--describe", state).out


# -- configs


def test_config_of_a_topic_is_added_described_and_deleted(tools: Toolbox, topic: str) -> None:
    entity = ["--entity-type", "topics", "--entity-name", topic]
    tools.configs("--alter", *entity, "--add-config", "max.message.bytes=12345,cleanup.policy=[compact,delete]")
    described = tools.configs("--describe", *entity).out
    assert (
        "max.message.bytes=12345 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:max.message.bytes=12345, "
        "DEFAULT_CONFIG:message.max.bytes=1048588}"
    ) in described
    assert "cleanup.policy=compact,delete sensitive=false" in described
    tools.configs("--alter", *entity, "--delete-config", "max.message.bytes")
    assert "max.message.bytes" not in tools.configs("--describe", *entity).out
    assert "max.message.bytes=1048588" in tools.configs("--describe", "--all", *entity).out


def test_config_that_does_not_exist_is_refused(tools: Toolbox, topic: str) -> None:
    entity = ["--entity-type", "topics", "--entity-name", topic]
    refused = tools.configs("--alter", *entity, "--add-config", "nonsense=1", status=1)
    assert "InvalidConfigurationException: Unknown topic config name: nonsense" in refused.out + refused.err


def test_config_of_all_brokers_changes_while_they_run(tools: Toolbox) -> None:
    entity = ["--entity-type", "brokers", "--entity-default"]
    tools.configs("--alter", *entity, "--add-config", "log.cleaner.threads=2")
    try:
        assert "log.cleaner.threads=2" in tools.configs("--describe", *entity).out
    finally:
        tools.configs("--alter", *entity, "--delete-config", "log.cleaner.threads")
    assert "log.cleaner.threads" not in tools.configs("--describe", *entity).out


def test_config_of_a_group_is_kept(tools: Toolbox, group: str) -> None:
    entity = ["--entity-type", "groups", "--entity-name", group]
    tools.configs("--alter", *entity, "--add-config", "consumer.session.timeout.ms=50000")
    assert "consumer.session.timeout.ms=50000" in tools.configs("--describe", *entity).out


# -- records


def test_console_writes_and_reads_keys_headers_and_values(tools: Toolbox, topic: str) -> None:
    reader = ["parse.key=true", "key.separator=:", "parse.headers=true", "null.marker=NULL"]
    given = [word for entry in reader for word in ("--reader-property", entry)]
    tools.run("ConsoleProducer", "--topic", topic, *given, stdin="h:1,h:2\tkey:value\nNULL\tgone:NULL\n")
    shown = ["print.key=true", "print.headers=true", "print.offset=true", "print.partition=true"]
    formatter = [word for entry in shown for word in ("--formatter-property", entry)]
    assert tools.consume(topic, 2, *formatter) == [
        "Partition:0\tOffset:0\th:1,h:2\tkey\tvalue",
        "Partition:0\tOffset:1\tNO_HEADERS\tgone\tnull",
    ]


@pytest.mark.parametrize("codec", list(batches.CODECS))
def test_console_compresses(tools: Toolbox, topic: str, codec: str, wire: Wire) -> None:
    text = "word " * 200
    tools.run("ConsoleProducer", "--topic", topic, "--compression-codec", codec, stdin=f"{text}\n")
    (stored,) = batches.read(control.fetch(wire, topic, 0).records)
    assert batches.CODEC_NAMES[stored.compression_type] == codec
    assert tools.consume(topic, 1) == [text]


def test_console_stops_when_nothing_comes(tools: Toolbox, make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    tools.run("ConsoleProducer", "--topic", topic, stdin="one\n")
    where = ["--partition", "0", "--offset", "earliest", "--timeout-ms", "500"]
    first = tools.run("consumer.ConsoleConsumer", "--topic", topic, *where)
    where[1] = "1"
    second = tools.run("consumer.ConsoleConsumer", "--topic", topic, *where)
    assert sorted([first.out, second.out]) == ["", "one\n"]


def test_records_are_deleted_before_an_offset(tools: Toolbox, topic: str, wire: Wire, tmp_path: Path) -> None:
    control.produce(wire, topic, batches.values(b"0", b"1", b"2"))
    file = tmp_path / "before.json"
    file.write_text(json.dumps({"partitions": [{"topic": topic, "partition": 0, "offset": 2}], "version": 1}))
    deleted = tools.run("DeleteRecordsCommand", "--offset-json-file", str(file))
    assert f"partition: {topic}-0\tlow_watermark: 2" in deleted.out
    assert tools.offsets(topic, "--time", "-2") == [f"{topic}:0:2"]
    assert tools.consume(topic, 1) == ["2"]


def test_offsets_at_the_start_the_end_and_a_time(tools: Toolbox, make_topic: Callable[..., str], wire: Wire) -> None:
    topic = make_topic(2)
    control.produce(wire, topic, batches.build([batches.Record(timestamp_ms=1000 * n) for n in range(5)]))
    assert tools.offsets(topic) == [f"{topic}:0:5", f"{topic}:1:0"]
    assert tools.offsets(topic, "--time", "earliest") == [f"{topic}:0:0", f"{topic}:1:0"]
    assert tools.offsets(topic, "--time", "2500", "--partitions", "0") == [f"{topic}:0:3"]
    assert tools.offsets(topic, "--time", "max-timestamp", "--partitions", "0") == [f"{topic}:0:4"]


# -- groups


def committed(tools: Toolbox, topic: str, group: str) -> None:
    """Leave a group behind that has read the topic's five records."""
    lines = "".join(f"{n}\n" for n in range(5))
    tools.run("ConsoleProducer", "--topic", topic, stdin=lines)
    tools.consume(topic, 5, "--group", group)


def test_group_is_listed_and_described_with_its_lag(tools: Toolbox, topic: str, group: str, broker: Broker) -> None:
    committed(tools, topic, group)
    tools.run("ConsoleProducer", "--topic", topic, stdin="more\n")
    assert group in tools.groups("--list").out.split()
    assert [group, "Empty"] in rows(tools.groups("--list", "--state"))
    described = tools.groups("--describe", "--group", group)
    assert [group, topic, "0", "5", "6", "1", "-", "-", "-"] in rows(described)
    (state,) = [row for row in rows(tools.groups("--describe", "--group", group, "--state")) if row[0] == group]
    assert state[1] == broker.address
    assert state[-2:] == ["Empty", "0"]


@pytest.mark.parametrize(
    ("where", "offset"),
    [
        (["--to-earliest"], 0),
        (["--to-latest"], 5),
        (["--to-offset", "3"], 3),
        (["--shift-by", "-2"], 3),
        (["--to-datetime", "2001-01-01T00:00:00.000"], 0),
    ],
    ids=lambda value: value[0].removeprefix("--") if isinstance(value, list) else "",
)
def test_offsets_of_a_group_are_reset(tools: Toolbox, topic: str, group: str, where: list[str], offset: int) -> None:
    committed(tools, topic, group)
    reset = ["--reset-offsets", "--group", group, "--topic", topic, *where]
    assert [group, topic, "0", str(offset)] in rows(tools.groups(*reset, "--dry-run"))
    assert rows(tools.groups("--describe", "--group", group))[0][3] == "5"
    tools.groups(*reset, "--execute")
    assert rows(tools.groups("--describe", "--group", group))[0][3] == str(offset)


def test_offsets_of_a_group_and_the_group_are_deleted(tools: Toolbox, topic: str, group: str) -> None:
    committed(tools, topic, group)
    deleted = tools.groups("--delete-offsets", "--group", group, "--topic", topic)
    assert [topic, "0", "Successful"] in rows(deleted)
    gone = tools.groups("--delete", "--group", group)
    assert f"Deletion of requested consumer groups ('{group}') was successful." in gone.out
    assert group not in tools.groups("--list").out.split()


# -- the broker's insides


def test_size_of_a_log_is_what_was_written(tools: Toolbox, topic: str, wire: Wire) -> None:
    batch = batches.values(b"0", b"1")
    control.produce(wire, topic, batch)
    told = tools.run("LogDirsCommand", "--describe", "--topic-list", topic).out.splitlines()[-1]
    (node,) = json.loads(told)["brokers"]
    (directory,) = node["logDirs"]
    assert directory["error"] is None
    expected = {"partition": f"{topic}-0", "size": len(batch), "offsetLag": 0, "isFuture": False}
    assert directory["partitions"] == [expected]


def test_quorum_has_a_leader_that_all_have_caught_up_with(tools: Toolbox) -> None:
    status = tools.run("MetadataQuorumCommand", "describe", "--status").out
    fields = dict(re.findall(r"^(\w+): +(.*)$", status, re.MULTILINE))
    assert int(fields["LeaderId"]) in [voter["id"] for voter in json.loads(fields["CurrentVoters"])]
    assert int(fields["HighWatermark"]) > 0
    assert fields["MaxFollowerLag"] == "0"
    (leader, *_) = rows(tools.run("MetadataQuorumCommand", "describe", "--replication"))
    assert (leader[0], leader[-1]) == (fields["LeaderId"], "Leader")


# -- load


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_performance_tools_move_all_they_are_told(tools: Toolbox, make_topic: Callable[..., str], codec: str) -> None:
    topic = make_topic(3)
    load = ["--num-records", str(COUNT), "--record-size", "100", "--throughput", "-1"]
    produced = tools.run(
        "ProducerPerformance", "--topic", topic, *load, "--command-property", f"compression.type={codec}"
    )
    assert produced.out.splitlines()[-1].startswith(f"{COUNT} records sent")
    assert sum(int(line.rsplit(":", 1)[1]) for line in tools.offsets(topic)) == COUNT
    consumed = tools.run("ConsumerPerformance", "--topic", topic, "--num-records", str(COUNT))
    names, figures = (line.split(", ") for line in consumed.out.splitlines()[-2:])
    assert dict(zip(names, figures, strict=True))["data.consumed.in.nMsg"] == str(COUNT)


def verifiable(tool: str, broker: Broker, *arguments: str) -> list[dict[str, Any]]:
    """The events that a verifiable tool printed. Each has a JVM of its own: it counts on hooks at the JVM's end."""
    command = apache_kafka.java(f"{TOOLS}{tool}", "--bootstrap-server", broker.address, *arguments)
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_verifiable_tools_account_for_every_record(broker: Broker, topic: str, group: str) -> None:
    events = verifiable("VerifiableProducer", broker, "--topic", topic, "--max-messages", "50", "--acks", "-1")
    acked = [(event["value"], event["offset"]) for event in events if event["name"] == "producer_send_success"]
    assert acked == [(str(n), n) for n in range(50)]
    wanted = ["--topic", topic, "--group-id", group, "--max-messages", "50", "--reset-policy", "earliest", "--verbose"]
    events = verifiable("VerifiableConsumer", broker, *wanted)
    assert [event["value"] for event in events if event["name"] == "record_data"] == [str(n) for n in range(50)]
    (assigned,) = [event for event in events if event["name"] == "partitions_assigned"]
    assert assigned["partitions"] == [{"topic": topic, "partition": 0}]
    last = [event for event in events if event["name"] == "offsets_committed"][-1]
    assert (last["success"], last["offsets"]) == (True, [{"topic": topic, "partition": 0, "offset": 50}])
