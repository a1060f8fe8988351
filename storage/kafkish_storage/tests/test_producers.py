"""Idempotent and transactional producers, as a log judges them."""

import pytest

from kafkish_storage.errors import (
    CoordinatorFencedError,
    InvalidProducerEpochError,
    InvalidTransactionError,
    OutOfOrderSequenceError,
)
from kafkish_storage.log import Appended, Log
from kafkish_storage.producers import Origin, VerificationGuard
from kafkish_storage.tests.conftest import OpenLog
from kafkish_storage.tests.making import batch, marker, read_all

LAST_SEQUENCE = 2**31 - 1


def send(log: Log, sequence: int, *values: bytes, epoch: int = 0, transactional: bool = False) -> Appended:
    one = batch(*values or (b"x",), producer_id=9, epoch=epoch, sequence=sequence, transactional=transactional)
    return log.append_as_leader([one], 0, 1000)


def verify(log: Log, sequence: int = 0, epoch: int = 0) -> VerificationGuard | None:
    return log.producers.start_verification(9, sequence, epoch, supports_epoch_bump=False, now_ms=1000)


def test_each_of_the_last_five_batches_is_known_when_it_comes_again(open_log: OpenLog) -> None:
    log = open_log()
    for sequence in range(0, 12, 2):
        send(log, sequence, b"a", b"b")
    for sequence in range(2, 12, 2):
        assert send(log, sequence, b"a", b"b") == Appended(sequence, sequence + 1, 1001, is_duplicate=True)
    assert log.end_offset == 12
    with pytest.raises(OutOfOrderSequenceError, match="sequence 0 in epoch 0, expected 12"):
        send(log, 0, b"a", b"b")


@pytest.mark.parametrize("sequence", [0, 2, 5])
def test_a_sequence_that_does_not_follow_is_refused(open_log: OpenLog, sequence: int) -> None:
    log = open_log()
    send(log, 0, b"a", b"b", b"c")
    with pytest.raises(OutOfOrderSequenceError) as raised:
        send(log, sequence)
    assert raised.value.expected_sequence == 3
    assert log.end_offset == 3


def test_sequences_wrap(open_log: OpenLog) -> None:
    log = open_log()
    send(log, LAST_SEQUENCE - 1, b"a", b"b")
    send(log, 0, b"c")
    assert log.end_offset == 3
    assert send(log, LAST_SEQUENCE - 1, b"a", b"b").is_duplicate


def test_a_batch_across_the_wrap_is_followed_by_the_right_sequence(open_log: OpenLog) -> None:
    log = open_log()
    send(log, LAST_SEQUENCE, b"a", b"b")
    send(log, 1, b"c")
    assert log.end_offset == 3
    assert send(log, LAST_SEQUENCE, b"a", b"b").is_duplicate


def test_a_new_epoch_starts_at_zero_and_fences_the_old_one(open_log: OpenLog) -> None:
    log = open_log()
    send(log, 0)
    with pytest.raises(OutOfOrderSequenceError):
        send(log, 1, epoch=1)
    send(log, 0, epoch=1)
    with pytest.raises(InvalidProducerEpochError, match="epoch 0 is older than epoch 1"):
        send(log, 1, epoch=0)


def test_a_producer_of_which_nothing_is_known_may_start_anywhere(open_log: OpenLog) -> None:
    assert send(open_log(), 77).first_offset == 0


def test_of_several_batches_at_once_none_is_written_if_one_is_refused(open_log: OpenLog) -> None:
    log = open_log()
    batches = [batch(b"x", producer_id=9, epoch=0, sequence=sequence) for sequence in (0, 1, 5)]
    with pytest.raises(OutOfOrderSequenceError):
        log.append_as_leader(batches, 0, 1000)
    assert read_all(log) == []
    assert send(log, 0).first_offset == 0


@pytest.mark.parametrize("was_clean", [True, False])
def test_a_producer_goes_on_after_a_restart(open_log: OpenLog, was_clean: bool) -> None:
    log = open_log(segment_bytes=200)
    for sequence in range(7):
        send(log, sequence)
    if was_clean:
        log.close()
    log = open_log(segment_bytes=200, was_clean=was_clean)
    assert send(log, 6).is_duplicate
    with pytest.raises(OutOfOrderSequenceError):
        send(log, 9)
    assert send(log, 7).first_offset == 7


def test_a_cut_takes_back_what_producers_had_sent(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=200)
    for sequence in range(7):
        send(log, sequence)
    log.truncate_to(4, 1000)
    assert send(log, 4).first_offset == 4


def test_a_silent_producer_is_forgotten_unless_it_has_an_open_transaction(open_log: OpenLog) -> None:
    log = open_log()
    send(log, 0)
    one = batch(b"x", producer_id=5, epoch=0, sequence=0, transactional=True)
    guard = log.producers.start_verification(5, 0, 0, supports_epoch_bump=False, now_ms=1000)
    log.append_as_leader([one], 0, 1000, guard=guard)
    log.producers.remove_expired(1000 + 24 * 60 * 60 * 1000)
    assert set(log.producers.producers) == {5}


# -- transactions


def test_a_transaction_that_the_coordinator_did_not_confirm_is_refused(open_log: OpenLog) -> None:
    log = open_log()
    with pytest.raises(InvalidTransactionError, match="not part of an open transaction"):
        send(log, 0, transactional=True)
    one = batch(b"x", producer_id=9, epoch=0, sequence=0, transactional=True)
    with pytest.raises(InvalidTransactionError):
        log.append_as_leader([one], 0, 1000, guard=VerificationGuard())
    log.append_as_leader([one], 0, 1000, guard=verify(log))
    assert verify(log, 1) is None  # it is open, nobody need be asked again
    send(log, 1, transactional=True)


def test_an_answer_that_comes_after_the_transactions_end_is_void(open_log: OpenLog) -> None:
    """A late batch would open a transaction that nobody ends (KIP-890)."""
    log = open_log()
    guard = verify(log)
    log.append_as_leader([marker(False, 9)], 0, 1000, origin=Origin.COORDINATOR)
    one = batch(b"x", producer_id=9, epoch=0, sequence=0, transactional=True)
    with pytest.raises(InvalidTransactionError):
        log.append_as_leader([one], 0, 1000, guard=guard)


def test_a_plain_batch_within_a_transaction_is_refused(open_log: OpenLog) -> None:
    log = open_log()
    one = batch(b"x", producer_id=9, epoch=0, sequence=0, transactional=True)
    log.append_as_leader([one], 0, 1000, guard=verify(log))
    with pytest.raises(InvalidTransactionError, match="outside of the producer's open transaction"):
        send(log, 1)


def test_a_marker_of_a_replaced_coordinator_or_producer_is_refused(open_log: OpenLog) -> None:
    log = open_log()
    log.append_as_leader([marker(True, 9, epoch=3, coordinator_epoch=5)], 0, 1000, origin=Origin.COORDINATOR)
    with pytest.raises(CoordinatorFencedError, match="coordinator epoch 4, after one of epoch 5"):
        log.append_as_leader([marker(True, 9, epoch=3, coordinator_epoch=4)], 0, 1000, origin=Origin.COORDINATOR)
    with pytest.raises(InvalidProducerEpochError):
        log.append_as_leader([marker(True, 9, epoch=2, coordinator_epoch=5)], 0, 1000, origin=Origin.COORDINATOR)
