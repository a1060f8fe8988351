"""`kafkish serve`, started as a user starts it, answers real sockets and Kafka's own tool."""

import contextlib
import re
import signal
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apache_kafka
import pytest

from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafkish_protocol.messages.headers import RequestHeader
from kafkish_protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafkish_protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafkish_protocol.tests.raw_client import RawClient, frame_of

SERVE = [sys.executable, "-m", "kafkish.cli.main", "serve"]
NAMED = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")


@dataclass
class Running:
    """A broker in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    data: Path

    def client(self) -> RawClient:
        return RawClient(self.port)

    def answers(self) -> bool:
        with self.client() as client:
            response: ApiVersionsResponse = client.send(NAMED, 4)
            return response.error_code == 0


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = start(tmp_path_factory.mktemp("data"))
    yield running
    running.process.kill()
    running.process.wait()


def start(data: Path, *more: str) -> Running:
    command = [*SERVE, "--listen", "127.0.0.1:0", "--data-dir", str(data), *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    ready = re.match(r"kafkish \S+ ready on 127\.0\.0\.1:(\d+) in \d+ ms \(node 1, cluster \S{22}\)", line)
    assert ready, line
    return Running(process, int(ready[1]), data)


# -- what it serves


def test_every_version_of_the_first_two_requests_of_any_client_is_answered(broker: Running) -> None:
    with broker.client() as client:
        advertised = {
            api.api_key: range(api.min_version, api.max_version + 1) for api in client.send(NAMED, 4).api_keys
        }
        for version in advertised[18]:
            assert client.send(NAMED if version >= 3 else ApiVersionsRequest(), version).error_code == 0
        for version in advertised[3]:
            request = MetadataRequest(topics=[MetadataRequestTopic(name="nowhere")])
            if version >= 4:
                request.allow_auto_topic_creation = False
            response = client.send(request, version)
            assert [(node.node_id, node.port) for node in response.brokers] == [(1, broker.port)]
            assert [topic.name for topic in response.topics] == ["nowhere"]


@pytest.mark.kafka
def test_kafkas_own_tool_lists_what_is_served(broker: Running) -> None:
    tool = "org.apache.kafka.tools.BrokerApiVersionsCommand"
    command = apache_kafka.java(tool, "--bootstrap-server", f"127.0.0.1:{broker.port}")
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "Metadata(3): 0 to 13 [usable: 13]" in printed
    assert "ApiVersions(18): 0 to 4 [usable: 4]" in printed
    assert "Produce(0): 0 to 13 [usable: 13]" in printed
    assert "WriteTxnMarkers(27): UNSUPPORTED" in printed


# -- bad input gets what Kafka gives


def test_newer_api_versions_gets_an_answer_in_version_0(broker: Running) -> None:
    with broker.client() as client:
        for version in (5, 99, 32_767):
            request = struct.pack(">hhih", 18, version, 77, -1) + b"whatever"
            client.socket.sendall(len(request).to_bytes(4, "big") + request)
            reply = client.read_frame()
            assert reply[:4] == (77).to_bytes(4, "big")
            response = ApiVersionsResponse.decode(reply, 0, 4)
            assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
            assert [(api.api_key, api.min_version, api.max_version) for api in response.api_keys] == [(18, 0, 4)]
        assert client.send(NAMED, 4).error_code == 0


@pytest.mark.parametrize("name", ["", "-x", "x-", "a b", "a/b", "\u00e9", "x\n"])
def test_bad_software_name_is_an_invalid_request_and_the_connection_stays(broker: Running, name: str) -> None:
    with broker.client() as client:
        for wrong in ((name, "1.0"), ("test", name)):
            request = ApiVersionsRequest(client_software_name=wrong[0], client_software_version=wrong[1])
            assert client.send(request, 3).error_code == ErrorCode.INVALID_REQUEST
        assert client.send(NAMED, 3).error_code == 0


def header(key: int, version: int) -> bytes:
    return struct.pack(">hhih", key, version, 1, -1)


CLOSING = {
    "negative length": b"\xff\xff\xff\xff",
    "length 0": bytes(4),
    "length above the limit": (104_857_601).to_bytes(4, "big"),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "HTTP": b"GET / HTTP/1.1\r\nHost: kafkish\r\n\r\n",
    "frame shorter than a header": b"\x00\x00\x00\x02\x00\x12",
    "unknown API": b"\x00\x00\x00\x0a" + header(999, 0),
    "API -1": b"\x00\x00\x00\x0a" + header(-1, 0),
    "controller's API": b"\x00\x00\x00\x0a" + header(52, 0),
    "version too new": b"\x00\x00\x00\x0a" + header(3, 14),
    "negative version": b"\x00\x00\x00\x0a" + header(3, -1),
    "API that is not served yet": frame_of(ShareGroupHeartbeatRequest(), 1),
    "version told and not served": b"\x00\x00\x00\x0a" + header(0, 2),
    "truncated header": b"\x00\x00\x00\x09" + header(3, 12)[:9],
    "truncated body": b"\x00\x00\x00\x0b" + RequestHeader(request_api_key=3, request_api_version=12).encode(2)[:11],
    "more tags than any struct has": b"\x00\x00\x00\x0e" + header(18, 3) + b"\x80\x80\x80\x08",
}


@pytest.mark.parametrize("case", CLOSING)
def test_bad_frame_closes_the_connection_without_a_byte_and_others_go_on(broker: Running, case: str) -> None:
    with broker.client() as client:
        client.socket.sendall(CLOSING[case])
        with contextlib.suppress(ConnectionResetError):  # closed with our bytes unread: also a close
            assert client.socket.recv(1) == b""
    assert broker.answers()


def test_bytes_after_the_body_are_ignored(broker: Running) -> None:
    with broker.client() as client:
        frame = frame_of(NAMED, 4)[4:] + b"trailing"
        client.socket.sendall(len(frame).to_bytes(4, "big") + frame)
        assert client.read_frame()[:4] == (1).to_bytes(4, "big")


def test_requests_may_be_sent_without_waiting(broker: Running) -> None:
    with broker.client() as client:
        client.socket.sendall(b"".join(frame_of(NAMED, 4, number) for number in range(500)))
        assert [int.from_bytes(client.read_frame()[:4], "big") for _ in range(500)] == list(range(500))


# -- the command


def test_port_in_use_is_said_in_one_line(broker: Running, tmp_path: Path) -> None:
    command = [*SERVE, "--listen", f"127.0.0.1:{broker.port}", "--data-dir", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "Address already in use" in run.stderr
    assert "--listen" in run.stderr


def test_address_that_is_none_is_refused(tmp_path: Path) -> None:
    run = subprocess.run([*SERVE, "--listen", "nine"], capture_output=True, text=True, check=False, timeout=30)
    assert run.returncode == 2
    assert "'nine' is not HOST:PORT" in run.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_signal_stops_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    running = start(tmp_path)
    client = running.client()
    running.process.send_signal(number)
    assert running.process.wait(10) == 0
    assert client.socket.recv(1) == b""
    client.socket.close()
    assert running.process.stderr is not None
    assert running.process.stderr.read() == ""


def refusal(*arguments: str) -> str:
    run = subprocess.run([*SERVE, *arguments], capture_output=True, text=True, check=False, timeout=30)
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    return run.stderr


def test_a_mistyped_key_is_answered_with_the_nearest_one(tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text("log.dirs=/nowhere\nnum.partition=3\n")
    told = refusal("--config", str(properties))
    assert f"{properties}:2" in told
    assert "did you mean num.partitions" in told


def test_a_second_broker_on_the_same_data_is_refused(broker: Running) -> None:
    told = refusal("--listen", "127.0.0.1:0", "--data-dir", str(broker.data))
    assert "another broker is using this data directory" in told
    assert broker.answers()


def test_the_ready_file_has_the_address_and_settings_can_be_given_one_by_one(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    running = start(tmp_path / "data", "--ready-file", str(ready), "--set", "node.id=1", "--set", "num.partitions=7")
    assert ready.read_text() == f"127.0.0.1:{running.port}\n"
    with running.client() as client:
        client.send(MetadataRequest(topics=[MetadataRequestTopic(name="made")]), 12)
        until(lambda: len(topic_of(client, "made").partitions) == 7)
    running.process.terminate()
    assert running.process.wait(10) == 0


def test_topics_are_there_again_after_a_stop_and_after_a_kill(tmp_path: Path) -> None:
    running = start(tmp_path)
    with running.client() as client:
        client.send(MetadataRequest(topics=[MetadataRequestTopic(name="kept")]), 12)
        until(lambda: len(topic_of(client, "kept").partitions) == 1)
        topic_id = topic_of(client, "kept").topic_id
    for end in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        running.process.send_signal(end)
        running.process.wait(10)
        assert (tmp_path / ".kafka_cleanshutdown").exists() == (end == signal.SIGTERM)
        running = start(tmp_path)
        with running.client() as client:
            assert topic_of(client, "kept").topic_id == topic_id
    running.process.kill()
    running.process.wait()


def test_metrics_are_shown_where_the_settings_say(tmp_path: Path) -> None:
    port = apache_kafka.free_port()
    running = start(tmp_path, "--set", f"kafkish.metrics.listen=127.0.0.1:{port}")
    assert running.answers()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as response:
        shown = response.read().decode()
    assert 'kafkish_request_seconds_count{api="ApiVersions"} 1.0' in shown
    for name in ("kafkish_partitions", "kafkish_groups", "kafkish_connections", "kafkish_waiting_fetches"):
        assert f"# TYPE {name} gauge" in shown
    assert "kafkish_loop_lag_seconds_bucket" in shown
    running.process.terminate()
    assert running.process.wait(10) == 0


def topic_of(client: RawClient, name: str) -> Any:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    return client.send(request, 12).topics[0]


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline_s
