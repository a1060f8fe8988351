"""What neither a script nor a disaster shows: the core by itself."""

import pytest

from kafkish_raft import effects, events, messages
from kafkish_raft.messages import ErrorCode
from kafkish_raft.ports import OffsetAndEpoch, Settings
from kafkish_raft.raft import Raft
from kafkish_raft.replica import TRANSITIONS, UnsafeError
from kafkish_raft.states import Leader
from kafkish_raft.tests.simulation.disk import Disk, Entry
from kafkish_raft.voters import NO_DIRECTORY, DirectoryId, Endpoint, ReplicaKey, Voter, VoterSet

ENDPOINTS = {node_id: (Endpoint("CONTROLLER", f"node-{node_id}", 9093),) for node_id in (1, 2, 3)}
THREE = VoterSet.of(Voter(ReplicaKey(node_id), endpoints) for node_id, endpoints in ENDPOINTS.items())


def settings(**more: object) -> Settings:
    own = ReplicaKey(1, DirectoryId(bytes(15) + b"1"))
    return Settings(key=own, endpoints=ENDPOINTS[1], static_voters=THREE, **more)  # type: ignore[arg-type]  # as given


def started(disk: Disk | None = None, **more: object) -> Raft:
    disk = disk or Disk(NO_DIRECTORY)
    raft = Raft(settings(**more), disk, disk, lambda _sides: 0)
    raft.step(events.Start(disk.controls()), 0)
    return raft


def follower_of_two(high_watermark: int) -> tuple[Raft, effects.Send]:
    """n1 follows n2 in epoch 3, with five records of epoch 1, and has a fetch under way."""
    disk = Disk(NO_DIRECTORY)
    for uid in range(5):
        disk.append(Entry(1, uid))
    disk.flushed_offset = 5
    raft = started(disk)
    begin = messages.BeginQuorumEpochRequest(raft.key, 2, 3, ENDPOINTS[2])
    fetch = sent(raft.step(events.RequestReceived(begin, None), 1))
    wanted = answer(raft, fetch, high_watermark=high_watermark)
    return raft, sent(wanted)


def sent(wanted: list[effects.Effect]) -> effects.Send:
    (send,) = [effect for effect in wanted if isinstance(effect, effects.Send)]
    return send


def answer(raft: Raft, fetch: effects.Send, **fields: object) -> list[effects.Effect]:
    response = messages.FetchResponse(leader_id=2, leader_epoch=3, leader_endpoints=ENDPOINTS[2], **fields)  # type: ignore[arg-type]  # as given
    return raft.step(events.ResponseReceived(fetch.destination, fetch.correlation_id, response), 2)


@pytest.mark.parametrize(
    "order", [{"diverging_epoch": OffsetAndEpoch(3, 1)}, {"snapshot_id": OffsetAndEpoch(3, 1)}], ids=["log", "snapshot"]
)
def test_follower_stops_rather_than_give_up_what_is_committed(order: dict[str, OffsetAndEpoch]) -> None:
    raft, fetch = follower_of_two(high_watermark=4)
    with pytest.raises(UnsafeError, match=r"node 2, leader of epoch 3, asks node 1 to go back to offset 3, but .* 4"):
        answer(raft, fetch, **order)


def test_follower_removes_what_is_not_committed() -> None:
    raft, fetch = follower_of_two(high_watermark=3)
    assert effects.Truncate(3) in answer(raft, fetch, diverging_epoch=OffsetAndEpoch(3, 1))


def test_answer_that_comes_twice_counts_once() -> None:
    raft, fetch = follower_of_two(high_watermark=3)
    append = effects.AppendFetched(3, b"records")
    assert append in answer(raft, fetch, records=b"records")
    assert append not in answer(raft, fetch, records=b"records")


def test_clock_that_is_set_back_delays_nothing() -> None:
    raft = started()
    raft.step(events.Tick(), -1_000_000)
    due_ms = None
    while raft.role == "unattached":
        due_ms = raft.next_deadline_ms
        assert due_ms is not None
        raft.step(events.Tick(), due_ms)
    assert raft.role == "prospective"
    assert due_ms == -1_000_000 + raft.settings.election_timeout_ms


def test_voter_that_is_too_old_for_pre_votes_is_asked_for_its_vote() -> None:
    raft = started()
    wanted = raft.step(events.Tick(), raft.settings.election_timeout_ms)
    assert raft.role == "prospective"
    ask = next(effect for effect in wanted if isinstance(effect, effects.Send))
    refusal = messages.VoteResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, leader_epoch=0)
    wanted = raft.step(events.ResponseReceived(ask.destination, ask.correlation_id, refusal), 2_000)
    requests = [effect.request for effect in wanted if isinstance(effect, effects.Send)]
    assert raft.role == "candidate"
    assert all(isinstance(request, messages.VoteRequest) and not request.pre_vote for request in requests)
    assert len(requests) == 2


@pytest.mark.parametrize(
    ("place", "why"),
    [((9, 1), "above the high watermark 4"), ((0, 1), "not above the latest"), ((4, 3), "another epoch there")],
)
def test_snapshot_is_made_only_where_the_log_is_committed(place: tuple[int, int], why: str) -> None:
    raft, _ = follower_of_two(high_watermark=4)
    assert raft.snapshot_header(OffsetAndEpoch(4, 1)) == (0, None)
    with pytest.raises(ValueError, match=f"no snapshot at .*{why}"):
        raft.snapshot_header(OffsetAndEpoch(*place))


def test_append_to_a_node_that_does_not_lead_says_who_does() -> None:
    raft, _ = follower_of_two(high_watermark=0)
    (reply,) = raft.step(events.AppendRequested(b"batch", 3, "handle"), 3)
    assert isinstance(reply, effects.Reply)
    assert (reply.handle, reply.response.error_code) == ("handle", ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert reply.response.error_message == "node 1 does not lead epoch 3; it knows node 2 as leader"


def test_single_voter_leads_at_once_and_commits_what_it_has_flushed() -> None:
    disk = Disk(NO_DIRECTORY)
    alone = VoterSet.of([Voter(ReplicaKey(1), ENDPOINTS[1])])
    raft = Raft(Settings(key=ReplicaKey(1), endpoints=ENDPOINTS[1], static_voters=alone), disk, disk, lambda _: 0)
    wanted = raft.step(events.Start(), 0)
    assert raft.role == "leader"
    (append,) = [effect for effect in wanted if isinstance(effect, effects.AppendControl)]
    disk.append(Entry(append.epoch, 0, append.records[0]))
    assert raft.step(events.LogChanged(), 0) == []
    disk.flushed_offset = 1
    assert raft.step(events.LogChanged(), 0) == [effects.HighWatermark(1)]
    voters, observers = raft.describe()
    assert [(voter.key.id, voter.end_offset) for voter in voters] == [(1, 1)]
    assert observers == []


def test_observers_that_a_leader_keeps_account_of_are_bounded() -> None:
    leader = Leader(settings(max_observers=3), 0, 0)
    leader.set_voters(THREE)
    for node_id in range(10, 20):
        leader.record_fetch(ReplicaKey(node_id), 0, 0, 0)
    assert len(leader.observers) == 3
    leader.forget_silent_observers(now_ms=300_000)
    assert not leader.observers


def test_every_transition_has_its_trigger_and_none_skips_the_vote() -> None:
    assert all(TRANSITIONS.values())
    assert [former.__name__ for former, state in TRANSITIONS if state is Leader] == ["Candidate"]
