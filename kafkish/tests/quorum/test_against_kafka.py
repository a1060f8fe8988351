"""Apache Kafka reads what the quorum writes, goes on with it, and is read in turn."""

import contextlib
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apache_kafka
import pytest

from kafkish.metadata.image import MetadataImage
from kafkish.quorum.formatting import BOOTSTRAP_FILE, read_bootstrap
from kafkish.quorum.snapshots import Snapshot
from kafkish.tests.metadata.kafka_log import load_log, wait_for
from kafkish.tests.quorum.node import Node
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.metadata import MetadataRequest
from kafkish_protocol.tests.raw_client import RawClient
from kafkish_raft.voters import Voters
from kafkish_storage import DiskFiles, read_meta_properties

pytestmark = pytest.mark.kafka

METADATA = "__cluster_metadata-0"
FIRST_SNAPSHOT = f"{METADATA}/00000000000000000000-0000000000.checkpoint"


class Ports:
    def __init__(self) -> None:
        self.client, self.controller = apache_kafka.free_port(), apache_kafka.free_port()

    def settings(self) -> dict[str, Any]:
        return {
            "process_roles": "broker,controller",
            "node_id": "1",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.client},CONTROLLER://127.0.0.1:{self.controller}",
            "controller_listener_names": "CONTROLLER",
            "controller_quorum_bootstrap_servers": f"127.0.0.1:{self.controller}",
        }

    def properties(self, directory: Path, data: Path) -> Path:
        path = directory / "kafka.properties"
        lines = {**self.settings(), "log_dirs": str(data), "offsets_topic_replication_factor": "1"}
        path.write_text("".join(f"{name.replace('_', '.')}={value}\n" for name, value in lines.items()))
        return path


@contextlib.contextmanager
def kafka_on(properties: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Apache Kafka on a directory that is formatted already."""
    process = subprocess.Popen(
        apache_kafka.java("kafka.Kafka", str(properties), heap="1g"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def run_java(*arguments: str) -> str:
    done = subprocess.run(apache_kafka.java(*arguments), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout + done.stderr


def ask_until(port: int, is_right: Callable[[list[str]], bool], timeout_s: float = 60) -> list[str]:
    """The names of topics with leaders, when they are as wanted."""
    deadline, names = time.monotonic() + timeout_s, list[str]()
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), RawClient(port) as client:
            topics = client.send(MetadataRequest(topics=None), 12).topics
            names = [it.name for it in topics if all(each.leader_id == 1 for each in it.partitions)]
            if is_right(names):
                return names
        time.sleep(0.2)
    raise AssertionError(f"Kafka shows topics {names}")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ports, Node]:
    """A directory that this quorum has written: a log, and several snapshots."""
    data, ports = tmp_path_factory.mktemp("ours") / "data", Ports()
    node = Node(
        DiskFiles(), data=str(data), metadata_log_max_record_bytes_between_snapshots="2000", **ports.settings()
    ).start()
    for number in range(12):
        node.created(f"topic-{number}", partitions=2)
    node.stop()
    return data, ports, node


def test_formatting_gives_what_kafkas_own_gives(tmp_path: Path) -> None:
    ports, files = Ports(), DiskFiles()
    ours = Node(files, data=str(tmp_path / "ours"), **ports.settings())
    properties = ports.properties(tmp_path, tmp_path / "theirs")
    tool = ["kafka.tools.StorageTool", "format", "--standalone", "-t", ours.identity.cluster_id]
    run_java(*tool, "-c", str(properties))
    found = {}
    for name in ("ours", "theirs"):
        directory = str(tmp_path / name)
        first = Snapshot(FIRST_SNAPSHOT, files.read(f"{directory}/{FIRST_SNAPSHOT}") or b"")
        version, voters = (control.record for control in first.controls(-1))
        assert isinstance(voters, Voters)
        [voter] = voters.voters
        meta = read_meta_properties(files, directory)
        assert meta is not None
        shape = [(batch.base_offset, batch.count, batch.is_control, batch.leader_epoch) for batch in first.batches]
        found[name] = (version, voter.endpoints, voter.key.id, meta.cluster_id, meta.node_id, shape)
        assert (tmp_path / name / BOOTSTRAP_FILE).exists()
    assert found["ours"] == found["theirs"]
    theirs = read_bootstrap(files, str(tmp_path / "theirs"), {})
    own = read_bootstrap(files, str(tmp_path / "ours"), {})
    assert own.levels.items() <= theirs.levels.items()  # no feature that is not served, and no other level


def test_kafkas_dump_reads_log_and_snapshots(written: tuple[Path, Ports, Node]) -> None:
    data, _, node = written
    files = sorted(str(path) for path in (data / METADATA).glob("*") if path.suffix in (".log", ".checkpoint"))
    assert len(files) > 3
    tool = "org.apache.kafka.tools.DumpLogSegments"
    told = run_java(tool, "--cluster-metadata-decoder", "--deep-iteration", "--files", ",".join(files))
    assert not re.search(r"(?i)exception|error|corrupt|mismatch|isvalid: false|could not", told)
    assert len(re.findall(r'"type":"TOPIC_RECORD"', told)) >= 12
    for kind in ("REGISTER_BROKER_RECORD", "FEATURE_LEVEL_RECORD", "BEGIN_TRANSACTION_RECORD"):
        assert f'"type":"{kind}"' in told
    for kind in ("SnapshotHeader", "SnapshotFooter", "KRaftVersion", "KRaftVoters", "LeaderChange"):
        assert kind in told
    assert f'"clusterId":"{node.identity.cluster_id}"' not in told


def test_kafkas_metadata_shell_shows_the_topics_of_a_snapshot(written: tuple[Path, Ports, Node]) -> None:
    data, _, _ = written
    latest = max((data / METADATA).glob("*.checkpoint"))
    shell = "org.apache.kafka.shell.MetadataShell"
    deadline, missing = time.monotonic() + 60, {f"topic-{number}" for number in range(12)}
    while missing and time.monotonic() < deadline:  # on a busy machine the shell answers before it has read all
        missing -= set(run_java(shell, "--snapshot", str(latest), "ls", "/image/topics/byName").split())
    assert not missing


def test_kafka_goes_on_with_our_directory_and_we_with_kafkas(written: tuple[Path, Ports, Node], tmp_path: Path) -> None:
    data, ports, node = written
    ours = {f"topic-{number}" for number in range(12)}
    with kafka_on(ports.properties(tmp_path, data)):
        ask_until(ports.client, lambda names: ours <= set(names))
        with RawClient(ports.client) as client:
            topic = CreatableTopic(name="by-kafka", num_partitions=3, replication_factor=1)
            assert client.send(CreateTopicsRequest(topics=[topic]), 7).topics[0].error_code == 0
        ask_until(ports.client, lambda names: "by-kafka" in names)
    again = Node(DiskFiles(), data=str(data), seed=2, **ports.settings()).start()
    assert again.failures == []
    assert ours | {"by-kafka"} == again.image.topics.by_name.keys()
    assert {name: topic.id for name, topic in node.image.topics.by_name.items()}.items() <= {
        name: topic.id for name, topic in again.image.topics.by_name.items()
    }.items()
    assert again.image.is_active(1)
    again.created("by-us")


def test_directory_of_a_kafka_gives_the_image_that_its_log_gives(tmp_path: Path) -> None:
    """A static quorum, as older clusters have it, with snapshots."""
    names = {"metadata_log_max_record_bytes_between_snapshots": "1500"}
    with apache_kafka.ApacheKafka(tmp_path, **names) as kafka, RawClient(kafka.port) as client:
        topics = [CreatableTopic(name=name, num_partitions=3, replication_factor=1) for name in ("a", "b", "c")]
        assert all(it.error_code == 0 for it in client.send(CreateTopicsRequest(topics=topics), 7).topics)
        log = tmp_path / "data" / METADATA
        wait_for(log, lambda image: image.topics.by_name.keys() >= {"a", "b", "c"} and any(log.glob("*.checkpoint")))
    lines = (tmp_path / "server.properties").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines)
    wanted = ("process.roles", "controller.quorum.voters", "controller.listener.names", "listeners")
    overrides: dict[str, Any] = {name.replace(".", "_"): settings[name] for name in wanted}
    node = Node(DiskFiles(), data=str(tmp_path / "data"), **overrides).replay()
    assert node.failures == []
    latest = node.quorum.log.latest_snapshot
    assert latest is not None, "Kafka has written snapshots"
    assert latest.offset > 0
    assert parts(node.image) == parts(load_log(log))


def parts(image: MetadataImage) -> tuple[object, ...]:
    return image.topics, image.features, image.configs, image.brokers, image.controllers, image.next_producer_id
