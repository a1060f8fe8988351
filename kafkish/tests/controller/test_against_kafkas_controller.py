"""Brokers that exist only in requests: a real Kafka controller and our operations hear the same, and decide alike."""

from collections.abc import Callable
from pathlib import Path

import apache_kafka
import pytest

from kafkish.tests.controller.oracle import Oracle
from kafkish.tests.controller.walk import Walk
from kafkish.tests.metadata.kafka_log import wait_for
from kafkish_protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from kafkish_protocol.messages.broker_registration import BrokerRegistrationRequest

pytestmark = pytest.mark.kafka

STEPS = 400


class Controller(apache_kafka.ApacheKafka):
    """A node that is a controller and no broker."""

    def __init__(self, directory: Path, **settings: str) -> None:
        port = apache_kafka.free_port()
        super().__init__(
            directory,
            process_roles="controller",
            listeners=f"CONTROLLER://127.0.0.1:{port}",
            controller_quorum_voters=f"1@127.0.0.1:{port}",
            **settings,
        )
        self.port = port


def step(oracle: Oracle, walk: Walk) -> None:
    before = oracle.image.brokers
    request = walk.next_request(oracle.image)
    answer = oracle.compare(request, messages=False)
    if isinstance(request, BrokerHeartbeatRequest) and answer.error_code == 0:
        oracle.sessions.heard(request, answer, end_offset=1, now_ms=0)
        old, new = before[request.broker_id], oracle.image.brokers[request.broker_id]
        if old != new:  # then Kafka forgets how far the broker is, until it says so again
            oracle.sessions.touch(new.id, new.epoch, 0).metadata_offset = -1
    if isinstance(request, BrokerRegistrationRequest) and answer.error_code == 0:
        oracle.sessions.forget(request.broker_id)


def test_a_random_walk(tmp_path: Path, show: Callable[[str], None]) -> None:
    with Controller(tmp_path, broker_session_timeout_ms="3600000") as kafka:
        log = tmp_path / "data" / "__cluster_metadata-0"
        wait_for(log, lambda image: 1 in image.controllers)
        oracle, walk = Oracle(kafka.port, tmp_path), Walk(966, "kafkish-oracle-cluster")
        for number in range(STEPS):
            step(oracle, walk)
            assert not oracle.differences, f"step {number}: " + "\n".join(oracle.differences)
    changes = oracle.image.provenance.offset
    show(f"random walk: {STEPS} requests to Kafka's controller and ours, {changes} records, none different")
