"""A disk that fails stops the node with a sentence, and nobody is told what is not so."""

import errno

import pytest

from kafkish.controller.operation import ApiError
from kafkish.quorum.local_broker import RegistrationError
from kafkish.quorum.quorum import QuorumFailedError
from kafkish.tests.quorum.node import DATA, Node
from kafkish_protocol.error_codes import ErrorCode
from kafkish_raft.messages import RemoveRaftVoterRequest
from kafkish_storage.errors import CorruptFileError
from kafkish_storage.files.memory import MemoryFiles


def fail_on(node: Node, operation: str, suffix: str) -> None:
    assert isinstance(node.files, MemoryFiles)
    node.files.fault = lambda op, path: errno.EIO if op == operation and path.endswith(suffix) else None


def test_failed_sync_stops_the_node_and_no_topic_is_promised() -> None:
    node = Node().start()
    fail_on(node, "sync", ".log")
    answer = node.create("a")
    node.world.settle()
    [reason] = node.failures
    assert "node 1 can not take part in the metadata quorum any more" in reason
    assert "Input/output error while syncing __cluster_metadata-0" in reason
    assert "Mend the disk, then start the broker again" in reason
    with pytest.raises(ApiError, match="can not take part"):
        answer.result()
    assert node.image.topic("a") is None
    assert not node.controller.is_active
    with pytest.raises(ApiError, match="can not take part"):
        node.create("b").result()


def test_failed_append_stops_the_node() -> None:
    node = Node().start()
    fail_on(node, "write", ".log")
    answer = node.create("a")
    node.world.settle()
    assert "while appending to __cluster_metadata-0" in node.failures[0]
    assert answer.is_done
    with pytest.raises(ApiError):
        answer.result()


def test_vote_that_can_not_be_written_is_not_counted() -> None:
    node = Node()
    fail_on(node, "sync", "quorum-state.tmp")
    node.quorum.start()
    node.world.settle(5_000)
    assert node.failures
    assert not node.controller.is_active
    assert node.quorum.log.end_offset == 0


def test_broker_of_a_quorum_that_failed_is_not_waited_for() -> None:
    node = Node()
    fail_on(node, "sync", ".log")
    node.start()
    with pytest.raises(RegistrationError, match="can not take part"):
        node.broker.ready.result()


def test_request_of_a_peer_after_a_failure_is_refused_and_not_forgotten() -> None:
    node = Node().start()
    node.quorum.fail(OSError("gone"))
    with pytest.raises(QuorumFailedError, match="gone"):
        node.quorum.ask(RemoveRaftVoterRequest(node.identity.replica_key)).result()


def test_stop_after_a_failure_ends() -> None:
    node = Node().start()
    fail_on(node, "sync", ".log")
    node.create("a")
    node.world.settle()
    stopped = node.quorum.stop()
    node.world.settle()
    assert stopped.is_done


def test_full_disk_costs_a_snapshot_and_not_the_node() -> None:
    node = Node(metadata_log_max_record_bytes_between_snapshots="100").start()
    assert isinstance(node.files, MemoryFiles)
    node.files.fault = lambda op, path: errno.ENOSPC if op == "write" and path.endswith(".part") else None
    node.created("a")
    node.world.settle(100)
    assert node.failures == []
    before = len(node.quorum.log.snapshots.ids)
    node.files.fault = None
    node.created("b")
    node.world.settle(100)
    assert len(node.quorum.log.snapshots.ids) == before + 1


def test_damaged_snapshot_is_reported_with_its_path() -> None:
    first = Node(metadata_log_max_record_bytes_between_snapshots="100").start()
    first.created("a")
    first.stop()
    latest = first.quorum.log.latest_snapshot
    assert latest is not None
    path = first.quorum.log.snapshots.path(latest)
    first.files.open(path).write(100, [b"\xff"], 1)
    with pytest.raises(CorruptFileError, match=path):
        Node(first.files, seed=2).start()


def test_damaged_vote_is_reported_with_its_path() -> None:
    first = Node().start()
    first.stop()
    first.files.open(f"{DATA}/__cluster_metadata-0/quorum-state").write(0, [b"x"], 1)
    second = Node(first.files, seed=2).start()
    assert "__cluster_metadata-0/quorum-state: not a vote" in second.failures[0]


def test_request_to_a_node_that_does_not_lead_is_refused() -> None:
    node = Node()
    with pytest.raises(ApiError) as raised:
        node.create("a").result()
    assert raised.value.code == ErrorCode.NOT_CONTROLLER
