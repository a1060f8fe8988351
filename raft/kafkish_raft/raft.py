"""The one door: `Raft.step(event, now_ms)` gives effects.

Built in layers, each a file that knows only those below it: Raft (events and time), Replication, Snapshots, Membership,
Elections, Replica (state and transitions).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kafkish_raft import events, messages
from kafkish_raft.effects import Effect
from kafkish_raft.leader import Leader, Progress
from kafkish_raft.ports import Dice, ElectionState, Log, VoteStore
from kafkish_raft.replica import State
from kafkish_raft.replication import Replication
from kafkish_raft.settings import Settings
from kafkish_raft.states import Candidate, Follower, Prospective, Resigned, Role, Tally, Unattached
from kafkish_raft.voters import NodeId, VoterSet


@dataclass(frozen=True, slots=True)
class QuorumDescription:
    """What DescribeQuorum tells."""

    leader_id: NodeId | None
    leader_epoch: int
    high_watermark: int
    current_voters: tuple[Progress, ...]
    observers: tuple[Progress, ...]


class Raft(Replication):
    """One replica of the metadata quorum.

    Feed it events, carry out its effects as `kafkish_raft.effects` says, and send a Tick when `next_deadline_ms` has
    come. The first event is Start. `epoch`, `leader_id`, `leader_endpoints` and `high_watermark` may be read any time.
    """

    def __init__(self, settings: Settings, log: Log, votes: VoteStore, dice: Dice) -> None:
        super().__init__(settings, log, dice)
        self._votes = votes
        self._caller_ms: int | None = None
        self._on_event: dict[type, Callable[[Any], None]] = {
            events.Start: self._on_start,
            events.Tick: lambda _event: None,
            events.RequestReceived: lambda event: self._on_request[type(event.request)](event.request, event.handle),
            events.ResponseReceived: self._on_response_received,
            events.RequestFailed: self._on_request_failed,
            events.AppendRequested: self.on_append_requested,
            events.LogChanged: self.on_log_changed,
            events.LogFlushed: self.on_log_flushed,
            events.SnapshotInstalled: self.on_snapshot_installed,
            events.ResignRequested: self._on_resign_requested,
            events.ShutdownRequested: self._on_shutdown_requested,
        }
        self._on_request: dict[type, Callable[[Any, object], None]] = {
            messages.VoteRequest: self.on_vote_request,
            messages.BeginQuorumEpochRequest: self.on_begin_request,
            messages.EndQuorumEpochRequest: self.on_end_request,
            messages.FetchRequest: self.on_fetch_request,
            messages.FetchSnapshotRequest: self.on_fetch_snapshot_request,
            messages.AddRaftVoterRequest: self.on_add_request,
            messages.RemoveRaftVoterRequest: self.on_remove_request,
            messages.UpdateRaftVoterRequest: self.on_update_request,
            messages.UpgradeRequest: self.on_upgrade_request,
        }
        self._on_response: dict[type, Callable[[NodeId, Any], bool]] = {
            messages.VoteResponse: self.on_vote_response,
            messages.BeginQuorumEpochResponse: self.on_begin_response,
            messages.EndQuorumEpochResponse: self.on_end_response,
            messages.FetchResponse: self.on_fetch_response,
            messages.FetchSnapshotResponse: self.on_fetch_snapshot_response,
            messages.AddRaftVoterResponse: self.on_change_response,
            messages.RemoveRaftVoterResponse: self.on_change_response,
            messages.UpdateRaftVoterResponse: self.on_update_response,
        }

    def step(self, event: events.Event, now_ms: int) -> list[Effect]:
        """Let something happen at `now_ms`, and say what is to be done, in order.

        UnsafeError means that going on would lose committed records: the node must stop.
        """
        if self._caller_ms is not None:  # only passing time counts: a clock that is set back delays nothing
            self.now_ms += max(0, now_ms - self._caller_ms)
        self._caller_ms = now_ms
        self._on_event[type(event)](event)
        self._poll()
        return self.take_effects()

    @property
    def next_deadline_ms(self) -> int | None:
        """When to send a Tick at the latest, in the caller's clock; None if nothing waits for time."""
        deadline_ms = min(self._deadlines(), default=None)
        if deadline_ms is None or self._caller_ms is None:
            return None
        return self._caller_ms + max(0, deadline_ms - self.now_ms)

    @property
    def role(self) -> Role:
        return self.state.role

    @property
    def voters(self) -> VoterSet:
        """The latest voter set, committed or not."""
        return self.history.voters

    @property
    def kraft_version(self) -> int:
        return self.history.version

    @property
    def may_stop(self) -> bool:
        """After ShutdownRequested: whether this node has handed over."""
        is_needed = isinstance(self.state, Leader) or (isinstance(self.state, Resigned) and self.state.unacknowledged)
        return self.is_shutting_down and not is_needed

    def describe(self) -> QuorumDescription:
        """For DescribeQuorum. Only a leader knows the replicas; times are to be compared with `now_ms`."""
        leader = self.leader
        if leader is None:
            return QuorumDescription(self.leader_id, self.epoch, messages.UNKNOWN_OFFSET, (), ())
        own = Progress(self.key, self.log.end_offset, self.now_ms, self.now_ms)
        voters = tuple(own if key == self.key.id else progress for key, progress in leader.voters.items())
        high_watermark = self.high_watermark if leader.is_established else messages.UNKNOWN_OFFSET
        return QuorumDescription(self.key.id, self.epoch, high_watermark, voters, tuple(leader.observers.values()))

    # -- events

    def _on_start(self, event: events.Start) -> None:
        self.history.add(event.controls)
        latest, last_epoch = self.log.latest_snapshot, self.log.last_epoch
        self.raise_high_watermark(latest.offset if latest else 0)
        election = self._votes.read() or ElectionState()
        if election.epoch < last_epoch:
            election = ElectionState(last_epoch)
        endpoints = () if election.leader_id is None else self.voters.endpoints(election.leader_id)
        self.restore(self._first_state(election, is_reachable=bool(endpoints)), election, endpoints)
        if isinstance(self.state, Candidate):
            self.end_election(self.state)
        elif self.is_voter and len(self.voters) == 1:
            self.become_prospective()

    def _first_state(self, election: ElectionState, *, is_reachable: bool) -> State:
        """A leader does not lead again in its epoch: what it had not flushed may be lost."""
        deadline_ms = self.election_deadline_ms()
        if election.leader_id == self.key.id:
            others = [voter.key.id for voter in self.voters if voter.key.id != self.key.id]
            return Resigned(deadline_ms, others, ())
        if election.voted_key == self.key and election.leader_id is None and self.is_voter:
            return Candidate(deadline_ms, Tally(self.voters, {self.key.id}))
        if is_reachable:
            return Follower(self.settings.fetch_timeout_ms, self.now_ms)
        return Unattached(deadline_ms)

    def _on_response_received(self, event: events.ResponseReceived) -> None:
        if self.peers.finish(event.source, event.correlation_id):
            is_well = self._on_response[type(event.response)](event.source, event.response)
            if not is_well and self.peers.is_ready(event.source):
                self.peers.rest(event.source, self.now_ms)

    def _on_request_failed(self, event: events.RequestFailed) -> None:
        if self.peers.finish(event.source, event.correlation_id):
            self.peers.rest(event.source, self.now_ms)

    def _on_resign_requested(self, event: events.ResignRequested) -> None:
        if self.leader and event.epoch == self.epoch:
            self.leader.is_resigning = True

    def _on_shutdown_requested(self, _event: events.ShutdownRequested) -> None:
        self.is_shutting_down = True
        if self.leader:
            self.leader.is_resigning = True

    # -- time

    def _poll(self) -> None:
        """Do what is due, until no role changes any more."""
        self.peers.expire(self.now_ms)
        state = None
        while state is not self.state:
            state = self.state
            match state:
                case Unattached():
                    self._poll_unattached(state)
                case Prospective() | Candidate():
                    self._poll_nominee(state)
                case Leader():
                    self._poll_leader(state)
                case Follower():
                    self._poll_follower(state)
                case Resigned():
                    self._poll_resigned(state)

    @property
    def _may_stand(self) -> bool:
        return self.is_voter and not self.is_shutting_down and not self.is_installing

    def _poll_unattached(self, state: Unattached) -> None:
        if self._may_stand and self.now_ms >= state.election_deadline_ms:
            self.become_prospective()
        else:
            self.ask_for_leader()

    def _poll_nominee(self, state: Prospective | Candidate) -> None:
        if self.now_ms < state.election_deadline_ms:
            self.ask_for_votes(state)
        elif isinstance(state, Prospective):
            self.end_pre_vote()
        else:
            self.become_prospective()

    def _poll_leader(self, leader: Leader) -> None:
        is_alone = self.now_ms >= leader.check_quorum_deadline_ms and len(leader.voters) > 1
        if leader.is_resigning or is_alone:
            self.become_resigned(leader.preferred_candidates())
            return
        self.expire_change(leader)
        if any(self.now_ms >= fetch.deadline_ms for fetch in self.parked):
            self.release_fetches()
        if self.now_ms >= leader.begin_epoch_deadline_ms:
            leader.begin_epoch_deadline_ms = self.now_ms + self.settings.begin_epoch_interval_ms
            leader.forget_silent_observers(self.now_ms)
            for node_id in leader.silent_voters(self.now_ms):
                self.announce_epoch(self.voters.by_id[node_id])

    def _poll_follower(self, state: Follower) -> None:
        if self._may_stand and self.now_ms >= state.fetch_deadline_ms:
            self.become_prospective()
        else:
            self.tend_membership(state)
            self.fetch(state)

    def _poll_resigned(self, state: Resigned) -> None:
        """Raise the epoch, so that nobody is told any more that this node leads it."""
        if self.now_ms >= state.election_deadline_ms and not self.is_shutting_down:
            self.become_unattached(self.epoch + 1)
        else:
            self.ask_for_successor(state)

    def _deadlines(self) -> Iterator[int]:
        state = self.state
        if isinstance(state, Leader):
            yield state.begin_epoch_deadline_ms
            yield from (fetch.deadline_ms for fetch in self.parked)
            if len(state.voters) > 1:
                yield state.check_quorum_deadline_ms
            if state.change:
                yield state.change.deadline_ms
        elif isinstance(state, Follower):
            if self._may_stand:
                yield state.fetch_deadline_ms
            if not self.peers.any_under_way():
                yield state.membership_deadline_ms
        elif not isinstance(state, Unattached) or self._may_stand:
            yield state.election_deadline_ms
        yield from self.peers.deadlines()
