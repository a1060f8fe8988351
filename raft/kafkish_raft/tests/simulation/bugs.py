"""Deliberate bugs. Each breaks one rule of the core, to prove that the simulation would notice.

They live here and not in the core: a bug takes the place of one method while it is switched on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from kafkish_raft import effects, events, messages, voters
from kafkish_raft.elections import Elections
from kafkish_raft.membership import Membership
from kafkish_raft.messages import ErrorCode
from kafkish_raft.ports import PREFIX, Located, OffsetAndEpoch
from kafkish_raft.raft import Raft
from kafkish_raft.replica import Refusal, Replica
from kafkish_raft.replication import Replication
from kafkish_raft.snapshots import Snapshots
from kafkish_raft.states import Candidate, Follower, Leader, Prospective, Tally, Unattached

Bug = Callable[[], list[Any]]
BUGS: dict[str, Bug] = {}


def bug(function: Bug) -> Bug:
    """Register a function that returns the patches of a bug, under its name."""
    BUGS[function.__name__.replace("_", " ")] = function
    return function


@contextmanager
def switched_on(name: str) -> Iterator[None]:
    """Run with one bug."""
    patches = BUGS[name]()
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def _method(owner: type, name: str, replacement: Any) -> Any:
    return mock.patch.object(owner, name, replacement)


@bug
def vote_not_persisted() -> list[Any]:
    """The vote is kept in memory only."""

    def give_vote(self: Replica, candidate: voters.ReplicaKey) -> None:
        self.voted_key = candidate

    return [_method(Replica, "give_vote", give_vote)]


@bug
def vote_told_before_it_is_persisted() -> list[Any]:
    """All messages leave before the disk is written: a crash between them forgets a promise."""
    original = Raft.step

    def step(self: Raft, event: events.Event, now_ms: int) -> list[effects.Effect]:
        return sorted(original(self, event, now_ms), key=lambda effect: isinstance(effect, effects.PersistElection))

    return [_method(Raft, "step", step)]


@bug
def second_vote_in_an_epoch() -> list[Any]:
    """Whoever asks last gets the vote."""
    may_grant = Elections.may_grant

    def may_grant_again(self: Elections, request: messages.VoteRequest) -> bool:
        if not request.pre_vote and isinstance(self.state, Unattached | Prospective):
            self.voted_key = None
        return may_grant(self, request)

    return [_method(Elections, "may_grant", may_grant_again)]


@bug
def vote_for_a_shorter_log() -> list[Any]:
    """Only epochs are compared."""
    return [_method(Elections, "is_up_to_date", lambda self, epoch, _offset: epoch >= self.log.last_epoch)]


@bug
def vote_without_looking_at_the_log() -> list[Any]:
    """Whoever asks first gets the vote."""
    return [_method(Elections, "is_up_to_date", lambda *_: True)]


@bug
def vote_again_without_looking_at_the_log() -> list[Any]:
    """Whoever has the vote keeps it, also if it has died since and lost what was not on its disk (as in Kafka)."""

    def may_grant(self: Elections, request: messages.VoteRequest) -> bool:
        is_repeated = self.voted_key == request.replica_key and isinstance(self.state, Unattached | Prospective)
        return (is_repeated and not request.pre_vote) or original(self, request)

    original = Elections.may_grant
    return [_method(Elections, "may_grant", may_grant)]


@bug
def watermark_counts_unflushed() -> list[Any]:
    """The leader counts its own records before they are on disk."""

    def committed_offset(self: Replication, leader: Leader) -> int | None:
        offset = leader.committed_offset(self.log.end_offset)
        return offset if offset > leader.epoch_start_offset else None

    def on_log_changed(self: Replication, event: events.LogChanged) -> None:
        original(self, event)
        if self.leader:
            self.advance_commit(self.leader)

    original = Replication.on_log_changed
    return [
        _method(Replication, "committed_offset", committed_offset),
        _method(Replication, "on_log_changed", on_log_changed),
    ]


@bug
def follower_fetches_before_its_flush() -> list[Any]:
    """A fetch tells the leader of records that are not on disk."""
    return [_method(Replication, "is_ready_to_fetch", lambda self: not self.is_log_changing and not self.is_installing)]


@bug
def watermark_counts_old_epochs() -> list[Any]:
    """Records of an older epoch are committed as soon as a majority has them (Raft, figure 8)."""
    return [
        _method(Replication, "committed_offset", lambda self, leader: leader.committed_offset(self.log.flushed_offset))
    ]


@bug
def no_pre_vote() -> list[Any]:
    """Whoever misses its leader raises the epoch at once."""

    def become_prospective(self: Replica) -> None:
        original(self)
        if isinstance(self.state, Prospective):
            self.become_candidate()

    original = Replica.become_prospective
    return [_method(Replica, "become_prospective", become_prospective)]


@bug
def truncation_below_the_watermark() -> list[Any]:
    """A follower whose log parts from the leader's goes back too far."""

    def truncate(self: Replication, diverging: OffsetAndEpoch) -> None:
        end_offset = max(self.log.start_offset, min(self.log.end_offset, diverging.offset) - 3)
        self.is_log_changing = True
        self.emit(effects.Truncate(end_offset))
        self.history.truncate(end_offset)

    return [_method(Replication, "_truncate", truncate)]


@bug
def no_check_quorum() -> list[Any]:
    """A leader stays, whether or not anyone hears it."""

    def poll_leader(self: Raft, leader: Leader) -> None:
        leader.check_quorum_deadline_ms = self.now_ms + 1
        original(self, leader)

    original = Raft._poll_leader
    return [_method(Raft, "_poll_leader", poll_leader)]


@bug
def snapshot_above_the_watermark() -> list[Any]:
    """Whoever asks for a snapshot gets one, also of records that are not committed."""

    def snapshot_header(self: Snapshots, snapshot_id: OffsetAndEpoch) -> Any:
        is_new = snapshot_id.offset > max(self.log.start_offset, (self.log.latest_snapshot or (0, 0))[0])
        return self.history.at(snapshot_id.offset) if is_new else original(self, snapshot_id)

    original = Snapshots.snapshot_header
    return [_method(Snapshots, "snapshot_header", snapshot_header)]


@bug
def snapshot_with_voters_of_later() -> list[Any]:
    """A snapshot opens with the latest voter set, which may never be committed."""

    def at(self: voters.VoterHistory, _end_offset: int) -> tuple[int, voters.VoterSet | None]:
        return self.version, None if self.voters_offset is None else self.voters

    return [_method(voters.VoterHistory, "at", at)]


@bug
def voters_changed_before_the_epoch_is_open() -> list[Any]:
    """A new leader changes voters while the change of its predecessor may still be committed, or not."""

    def established_leader(self: Membership, _epoch: int) -> Leader:
        if self.leader is None:
            raise Refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return self.leader

    return [
        _method(Membership, "established_leader", established_leader),
        _method(Membership, "is_change_committed", lambda _self, leader: leader.change is None),
    ]


@bug
def removed_leader_counts_itself() -> list[Any]:
    """A leader that is no voter any more counts its own disk."""

    def committed_offset(self: Leader, flushed_offset: int) -> int:
        offsets = [voter.end_offset for key, voter in self.voters.items() if key != self.key.id]
        return sorted([flushed_offset, *offsets], reverse=True)[(len(offsets) + 1) // 2]

    return [_method(Leader, "committed_offset", committed_offset)]


@bug
def log_compared_by_length_only() -> list[Any]:
    """A fetch from within the leader's log is served, whatever the follower's last epoch."""

    def _locate(self: Replication, request: messages.FetchRequest) -> Located:
        is_within = self.log.start_offset < request.fetch_offset <= self.log.end_offset
        return PREFIX if is_within else original(self, request)

    original = Replication._locate
    return [_method(Replication, "_locate", _locate)]


@bug
def truncated_voters_still_count() -> list[Any]:
    """A voter set that was removed from the log with its record goes on to count."""
    return [_method(voters.VoterHistory, "truncate", lambda _self, _end_offset: None)]


@bug
def two_voter_changes_at_once() -> list[Any]:
    """The next change does not wait for the one before."""

    def leader_for_change(self: Membership) -> Any:
        if self.leader is not None:
            self.leader.change = None
        return original(self)

    original = Membership.leader_for_change
    return [
        _method(Membership, "leader_for_change", leader_for_change),
        _method(Membership, "is_change_committed", lambda *_: True),
    ]


@bug
def stale_fetch_accepted() -> list[Any]:
    """A leader serves whoever asks, whatever epoch the asker is in."""

    def check_leader_only(self: Replica, _epoch: int) -> ErrorCode:
        return ErrorCode.NONE if self.leader else ErrorCode.NOT_LEADER_OR_FOLLOWER

    return [_method(Replica, "check_leader_only", check_leader_only)]


@bug
def stale_fetch_response_accepted() -> list[Any]:
    """A follower takes what an earlier leader sent, late."""

    def absorb(self: Elections, response: messages.QuorumResponse) -> bool | None:
        is_taken = isinstance(response, messages.FetchResponse) and not response.error_code
        return None if is_taken and isinstance(self.state, Follower) else original(self, response)

    def on_response_received(self: Raft, event: events.ResponseReceived) -> None:
        if isinstance(event.response, messages.FetchResponse) and not self.is_log_changing:
            self.peers.finish(event.source, event.correlation_id)
            self.on_fetch_response(event.source, event.response)
        else:
            original_received(self, event)

    original, original_received = Elections.absorb, Raft._on_response_received
    return [_method(Elections, "absorb", absorb), _method(Raft, "_on_response_received", on_response_received)]


@bug
def removed_leader_does_not_resign() -> list[Any]:
    """It was voted out, and stays."""

    def on_change_committed(self: Membership, leader: Leader) -> None:
        original(self, leader)
        leader.is_resigning = False

    original = Membership.on_change_committed
    return [_method(Membership, "on_change_committed", on_change_committed)]


@bug
def restarted_leader_leads_on() -> list[Any]:
    """A node that led when it died leads again in the same epoch."""

    def first_state(self: Raft, election: Any, *, is_reachable: bool) -> Any:
        if election.leader_id == self.key.id and self.is_voter:
            return Candidate(self.now_ms + 10_000, Tally(self.voters, set(self.voters.by_id)))
        return original(self, election, is_reachable=is_reachable)

    original = Raft._first_state
    return [_method(Raft, "_first_state", first_state)]


@bug
def restarted_leader_forgets_that_it_led() -> list[Any]:
    """The only voter asks for its vote; if it dies then, it seems to have been no more than a candidate."""

    def become_prospective(self: Replica) -> None:
        if self.leader_id == self.key.id:
            self.leader_id = None
            self._persist()
        original(self)

    original = Replica.become_prospective
    return [_method(Replica, "become_prospective", become_prospective)]


@bug
def deleted_snapshot_asked_for_for_ever() -> list[Any]:
    """A follower does not notice that the leader no longer has what it downloads."""

    def on_fetch_snapshot_response(self: Snapshots, source: voters.NodeId, response: Any) -> bool:
        download = self.state.download if isinstance(self.state, Follower) else None
        is_handled = original(self, source, response)
        if response.error_code == ErrorCode.SNAPSHOT_NOT_FOUND and isinstance(self.state, Follower):
            self.state.download = download
        return is_handled

    original = Snapshots.on_fetch_snapshot_response
    return [_method(Snapshots, "on_fetch_snapshot_response", on_fetch_snapshot_response)]


@bug
def lost_directory_id() -> list[Any]:
    """Nodes are known by their ids only: one that comes back with an empty disk counts as the voter that it was."""

    def is_same(voter: voters.ReplicaKey, replica: voters.ReplicaKey) -> bool:
        return voter.id == replica.id

    modules = ("kafkish_raft.elections", "kafkish_raft.states", "kafkish_raft.voters")
    return [mock.patch(f"{module}.is_same_replica", is_same) for module in modules]


@bug
def follower_never_stands() -> list[Any]:
    """A voter waits for its leader for ever."""

    def poll_follower(self: Raft, state: Follower) -> None:
        state.fetch_deadline_ms = self.now_ms + 1
        original(self, state)

    original = Raft._poll_follower
    return [_method(Raft, "_poll_follower", poll_follower)]
