"""The one door: `Raft.step(event, now_ms)` gives effects.

Built in layers, each a file that knows only those below it: Raft (events and time), Replication, Snapshots, Membership,
Elections, Replica (state and transitions).
"""

from collections.abc import Callable, Iterator
from typing import Any

from kafkish_raft import events, messages
from kafkish_raft.effects import Effect
from kafkish_raft.ports import Dice, ElectionState, Log, Settings, VoteStore
from kafkish_raft.replica import Refusal, State
from kafkish_raft.replication import Replication
from kafkish_raft.states import Candidate, Follower, Leader, Nominee, Progress, Prospective, Resigned, Tally, Unattached
from kafkish_raft.voters import NodeId, VoterSet


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
            events.RequestReceived: self._on_request_received,
            events.ResponseReceived: self._on_response_received,
            events.AppendRequested: self.on_append_requested,
            events.LogChanged: self.on_log_changed,
            events.SnapshotInstalled: self.on_snapshot_installed,
            events.ResignRequested: self._on_resign_requested,
            events.ShutdownRequested: self._on_shutdown_requested,
        }
        self._on_message: dict[type, tuple[Callable[[Any, Any], None], Callable[[NodeId, Any], bool]]] = {
            messages.VoteRequest: (self.on_vote_request, self.on_vote_response),
            messages.BeginQuorumEpochRequest: (self.on_begin_request, self.on_begin_response),
            messages.EndQuorumEpochRequest: (self.on_end_request, self.on_end_response),
            messages.FetchRequest: (self.on_fetch_request, self.on_fetch_response),
            messages.FetchSnapshotRequest: (self.on_fetch_snapshot_request, self.on_fetch_snapshot_response),
            messages.AddRaftVoterRequest: (self.on_add_request, self.on_change_response),
            messages.RemoveRaftVoterRequest: (self.on_remove_request, self.on_change_response),
            messages.UpdateRaftVoterRequest: (self.on_update_request, self.on_update_response),
            messages.UpgradeRequest: (self.on_upgrade_request, self.on_change_response),
        }

    def step(self, event: events.Event, now_ms: int) -> list[Effect]:
        """Let something happen at `now_ms`, and say what is to be done, in order.

        UnsafeError means that going on would lose committed records: the node must stop.
        """
        if self._caller_ms is not None:  # only passing time counts: a clock that is set back delays nothing
            self.now_ms += max(0, now_ms - self._caller_ms)
        self._caller_ms = now_ms
        self.wanted, self.is_log_changing = [], False
        self._on_event[type(event)](event)
        self._poll()
        return self.wanted

    @property
    def next_deadline_ms(self) -> int | None:
        """When to send a Tick at the latest, in the caller's clock; None if nothing waits for time."""
        deadline_ms = min(self._deadlines(), default=None)
        if deadline_ms is None or self._caller_ms is None:
            return None
        return self._caller_ms + max(0, deadline_ms - self.now_ms)

    @property
    def role(self) -> str:
        """`leader`, `follower`, …"""
        return type(self.state).__name__.lower()

    @property
    def voters(self) -> VoterSet:
        """The latest voter set, committed or not."""
        return self.history.voters

    @property
    def may_stop(self) -> bool:
        """After ShutdownRequested: whether this node has handed over."""
        is_needed = isinstance(self.state, Leader) or (isinstance(self.state, Resigned) and self.state.unacknowledged)
        return self.is_shutting_down and not is_needed

    def describe(self) -> tuple[list[Progress], list[Progress]]:
        """Voters and observers, for DescribeQuorum. Only a leader knows. Times are to be compared with `now_ms`."""
        if self.leader is None:
            return [], []
        own = Progress(self.key, self.log.end_offset, self.now_ms, self.now_ms)
        voters = [own if node_id == self.key.id else other for node_id, other in self.leader.voters.items()]
        return voters, list(self.leader.observers.values())

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
            return Resigned(deadline_ms, self.others(), ())
        if election.voted_key == self.key and election.leader_id is None and self.is_voter:
            return Candidate(deadline_ms, Tally(self.voters, {self.key.id}))
        if is_reachable:
            return Follower(self.settings.fetch_timeout_ms, self.now_ms)
        return Unattached(deadline_ms)

    def _on_request_received(self, event: events.RequestReceived) -> None:
        try:
            self._on_message[type(event.request)][0](event.request, event.handle)
        except Refusal as refusal:
            self.reply(event.handle, refusal.response)

    def _on_response_received(self, event: events.ResponseReceived) -> None:
        request = self.peers.finish(event.source, event.correlation_id)
        if request is not None:
            handle = self._on_message[type(request)][1]
            if event.response is None or not handle(event.source, event.response):
                self.peers.rest(event.source, self.now_ms)

    def _on_resign_requested(self, event: events.ResignRequested) -> None:
        if self.leader and event.epoch == self.epoch:
            self.leader.is_resigning = True

    def _on_shutdown_requested(self, _event: events.ShutdownRequested) -> None:
        self.is_shutting_down = True

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
                case Nominee():
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

    def _poll_nominee(self, state: Nominee) -> None:
        if self.now_ms < state.election_deadline_ms:
            self.ask_for_votes(state)
        elif isinstance(state, Prospective):
            self.end_pre_vote()
        else:
            self.become_prospective()

    def _poll_leader(self, leader: Leader) -> None:
        is_alone = self.now_ms >= leader.check_quorum_deadline_ms and len(leader.voters) > 1
        if leader.is_resigning or self.is_shutting_down or is_alone:
            self.become_resigned(leader)
            return
        if leader.change and self.now_ms >= leader.change.deadline_ms:
            self.finish_change(leader, messages.ErrorCode.REQUEST_TIMED_OUT, "not committed in time; it may be later")
        if any(self.now_ms >= fetch.deadline_ms for fetch in self.parked):
            self.release_fetches()
        if self.now_ms >= leader.begin_epoch_deadline_ms:
            leader.begin_epoch_deadline_ms = self.now_ms + leader.begin_epoch_interval_ms
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
        if self.now_ms >= state.election_deadline_ms:
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
            if self.leader_id is not None and self.peers.is_ready(self.leader_id) and not self.peers.any_under_way():
                yield state.membership_deadline_ms
        elif self._may_stand or not isinstance(state, Unattached):
            yield state.election_deadline_ms
        yield from self.peers.deadlines()
