"""Loading a shard from its log."""

import pytest

from kafkish.coordinators.groups.records import offset_record
from kafkish.coordinators.records import encode_record
from kafkish.tests.coordinators.group_node import GroupNode, error_of, group_in
from kafkish.tests.coordinators.groups import requests
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.records import Record, build_batch
from kafkish_protocol.records.control import build_end_marker
from kafkish_protocol.stored.offset_commit import OffsetCommitValue
from kafkish_protocol.types import ZERO_UUID


def fill(node: GroupNode, index: int, commits: int) -> str:
    group = group_in(index, node)
    for offset in range(commits):
        node.commit(group, offset)
    node.groups.resign(index, 2)
    return group


def test_log_is_loaded_in_slices_and_clients_are_told(node: GroupNode) -> None:
    group = fill(node, 0, 1_200)
    node.elect(0, epoch=3)
    slices = 0
    while error_of(node.commit(group, 1).result()) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        assert node.ask(requests.heartbeat(group, "m", 1)).error_code == ErrorCode.NONE
        node.time.turn()
        slices += 1
    assert slices > 3
    assert node.committed(group) == 1


def test_buffer_smaller_than_a_batch_loads_all_the_same() -> None:
    node = GroupNode(load_buffer_bytes=1)
    node.elect()
    group = fill(node, 0, 20)
    node.elect(0, epoch=3)
    node.time.turn()
    assert node.committed(group) == 19


def test_records_that_were_deleted_from_the_log_do_not_count(node: GroupNode) -> None:
    group = group_in(0, node)
    node.ask(requests.commit(group, {("t", 0): 1, ("u", 0): 2}))
    node.groups.resign(0, 2)
    node.logs[0].start_offset = 1
    node.elect(0, epoch=3)
    node.time.turn()
    assert node.committed(group) == -1


def test_resignation_ends_loading(node: GroupNode) -> None:
    fill(node, 0, 600)
    node.elect(0, epoch=3)
    node.time.turn()
    node.groups.resign(0, 4)
    before = node.time.pending
    node.time.turn()
    assert node.time.pending == before
    assert node.logs[0].listeners == []


def test_uncommitted_records_are_loaded_and_shown_when_they_are_committed(slow_node: GroupNode) -> None:
    group = group_in(0, slow_node)
    slow_node.commit(group, 9)
    slow_node.groups.resign(0, 2)
    slow_node.elect(0, epoch=3)
    slow_node.time.turn()
    read = slow_node.start(requests.fetch(group, {"t": [0]}))
    assert not read.is_done
    slow_node.logs[0].commit()
    assert read.result().groups[0].topics[0].partitions[0].committed_offset == 9


def test_kind_of_record_from_the_future_is_skipped(node: GroupNode) -> None:
    node.groups.resign(0, 2)
    node.logs[0].add(bytes(build_batch([Record(key=b"\x03\xe7key", value=b"value")])))
    node.elect(0, epoch=3)
    node.time.turn()
    assert error_of(node.commit(group_in(0, node), 1).result()) == ErrorCode.NONE


@pytest.mark.parametrize("key", [None, b"\x00", b"\x00\x01\x00\xffg"])
def test_damaged_log_has_no_coordinator_until_the_next_election(
    node: GroupNode, key: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    node.groups.resign(0, 2)
    node.logs[0].add(bytes(build_batch([Record(key=key, value=b"value")])))
    node.elect(0, epoch=3)
    node.time.turn()
    group = group_in(0, node)
    assert error_of(node.commit(group, 1).result()) == ErrorCode.NOT_COORDINATOR
    assert "__consumer_offsets 0" in caplog.text
    assert "offset 0" in caplog.text
    node.logs[0].start_offset = 1
    node.elect(0, epoch=4)
    assert error_of(node.commit(group, 1).result()) == ErrorCode.NONE


def write_transactional(node: GroupNode, group: str, offset: int, producer_id: int) -> None:
    """A commit as part of a transaction, as Kafka's coordinator writes it."""
    value = OffsetCommitValue(offset=offset, metadata="", commit_timestamp=0)
    key, data = encode_record(offset_record(group, "t", 0, value))
    records = [Record(key=key, value=data)]
    batch = build_batch(records, producer_id=producer_id, producer_epoch=0, base_sequence=0, transactional=True)
    node.logs[0].add(bytes(batch))


def end_transaction(node: GroupNode, producer_id: int, *, commit: bool) -> None:
    marker = build_end_marker(commit, producer_id=producer_id, producer_epoch=0, coordinator_epoch=0, timestamp=0)
    node.logs[0].add(bytes(marker))


def loaded_offset(node: GroupNode, group: str) -> int:
    node.groups.resign(0)
    node.elect(0)
    node.time.turn()
    node.logs[0].commit()
    return node.committed(group)


def test_transactional_commit_counts_when_its_marker_says_so(node: GroupNode) -> None:
    group = group_in(0, node)
    write_transactional(node, group, 1, producer_id=1)
    assert loaded_offset(node, group) == -1
    end_transaction(node, 1, commit=True)
    assert loaded_offset(node, group) == 1
    write_transactional(node, group, 2, producer_id=1)
    end_transaction(node, 1, commit=False)
    assert loaded_offset(node, group) == 1


def test_newest_commit_counts_whenever_its_transaction_ends(node: GroupNode) -> None:
    group = group_in(0, node)
    write_transactional(node, group, 1, producer_id=1)
    write_transactional(node, group, 2, producer_id=2)
    end_transaction(node, 2, commit=True)
    end_transaction(node, 1, commit=True)
    assert loaded_offset(node, group) == 2
    write_transactional(node, group, 3, producer_id=1)
    assert error_of(node.commit(group, 4).result()) == ErrorCode.NONE
    end_transaction(node, 1, commit=True)
    assert loaded_offset(node, group) == 4


def test_deleted_topics_are_forgotten_also_by_shards_that_still_load(node: GroupNode) -> None:
    group = fill(node, 0, 600)
    other = group_in(1, node)
    node.commit(other, 1)
    node.elect(0, epoch=3)
    node.groups.on_topics_deleted([("t", ZERO_UUID)])
    assert node.committed(other) == -1
    node.time.advance(1)
    assert node.committed(group) == -1
