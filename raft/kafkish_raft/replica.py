"""The state of one replica and its transitions: the lowest layer of `Raft`.

The layers above react to events. They read this state, call `become_…`, `send`, `reply` and `emit`, and change nothing
else. Whatever they ask for is collected in order.
"""

from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from kafkish_raft import effects, messages, voters
from kafkish_raft.events import Handle
from kafkish_raft.messages import ErrorCode
from kafkish_raft.peers import Peers
from kafkish_raft.ports import Dice, ElectionState, Log, Settings
from kafkish_raft.states import Candidate, Follower, Leader, Nominee, Prospective, Resigned, Tally, Unattached
from kafkish_raft.voters import ControlRecord, Endpoints, NodeId, ReplicaKey

R = TypeVar("R", bound=messages.QuorumResponse)
State: TypeAlias = Unattached | Prospective | Candidate | Leader | Follower | Resigned

TRANSITIONS: Final = {
    (Unattached, Unattached): "learns of a higher epoch, not of its leader",
    (Unattached, Prospective): "election timeout, as voter",
    (Unattached, Follower): "learns who leads its epoch or a higher one",
    (Prospective, Unattached): "higher epoch; or pre-vote lost or timed out, and no leader was known",
    (Prospective, Candidate): "a majority granted the pre-vote, or a voter is too old to know pre-votes",
    (Prospective, Follower): "learns of a leader; or pre-vote lost or timed out, and a leader was known",
    (Candidate, Unattached): "learns of a higher epoch, not of its leader",
    (Candidate, Prospective): "election timeout",
    (Candidate, Leader): "a majority granted the vote",
    (Candidate, Follower): "learns who leads its epoch or a higher one",
    (Leader, Unattached): "learns of a higher epoch, not of its leader",
    (Leader, Follower): "learns who leads a higher epoch",
    (Leader, Resigned): "no fetches from a majority, asked to, shutting down, or removed from the voters",
    (Follower, Unattached): "learns of a higher epoch, not of its leader",
    (Follower, Prospective): "fetch timeout, as voter",
    (Follower, Follower): "learns who leads a higher epoch",
    (Resigned, Unattached): "higher epoch; or election timeout, and it raises the epoch itself",
    (Resigned, Prospective): "restarted as the only voter",
    (Resigned, Follower): "learns who leads a higher epoch",
}
"""The legal transitions. A restart begins resigned (it led), candidate (it voted itself), follower or unattached."""


class UnsafeError(Exception):
    """A leader asks for what would lose committed records. The node must stop: its log, or the leader's, is damaged."""


class Refusal(Exception):
    """A request that is not carried out, and why: becomes its answer."""

    def __init__(self, error_code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message)
        self.response = messages.Response(error_code=error_code, error_message=message)


class ParkedFetch(NamedTuple):
    """A fetch that waits at the end of the log for something new."""

    request: messages.FetchRequest
    handle: Handle
    deadline_ms: int


class Replica:
    """Who this is, which epoch it is in, what it plays there, and the effects of the step under way."""

    def __init__(self, settings: Settings, log: Log, dice: Dice) -> None:
        self.settings = settings
        self.key = settings.key
        self.log = log
        self.history = voters.VoterHistory(settings.static_voters)
        self.peers = Peers(settings, dice)
        self.now_ms = 0
        self.epoch = 0
        self.leader_id: NodeId | None = None
        self.leader_endpoints: Endpoints = ()
        self.voted_key: ReplicaKey | None = None
        self.high_watermark = 0
        self.state: State = Unattached(0)
        self.parked: list[ParkedFetch] = []
        self.is_log_changing = False  # by an effect of this step
        self.is_installing = False  # the log is being replaced: no election begins here, nothing is fetched
        self.is_shutting_down = False
        self._dice = dice
        self._persisted: ElectionState | None = None
        self.wanted: list[effects.Effect] = []

    @property
    def is_voter(self) -> bool:
        return self.history.voters.contains(self.key)

    @property
    def leader(self) -> Leader | None:
        """The leader's accounts, if this is the leader."""
        return self.state if isinstance(self.state, Leader) else None

    def check_leader_only(self, epoch: int) -> ErrorCode:
        """Whether a request for the leader of `epoch` is right here."""
        if epoch != self.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH if epoch < self.epoch else ErrorCode.UNKNOWN_LEADER_EPOCH
        if self.leader is None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.BROKER_NOT_AVAILABLE if self.is_shutting_down else ErrorCode.NONE

    def election_deadline_ms(self) -> int:
        """A time that differs from replica to replica, so that elections seldom collide."""
        timeout_ms = self.settings.election_timeout_ms
        return self.now_ms + timeout_ms + self._dice(max(1, timeout_ms))

    # -- effects

    def emit(self, effect: effects.Effect) -> None:
        self.wanted.append(effect)

    def send(self, destination: NodeId, endpoints: Endpoints, request: messages.Request) -> None:
        """Send, if nothing else is under way to this peer."""
        if self.peers.is_ready(destination):
            correlation_id = self.peers.send(destination, request, self.now_ms)
            self.emit(effects.Send(destination, endpoints, correlation_id, request))

    def reply(self, handle: Handle, response: messages.Response) -> None:
        self.emit(effects.Reply(handle, response))

    def response(self, kind: type[R], error: ErrorCode = ErrorCode.NONE, **fields: Any) -> R:
        """A response of this kind that tells the epoch and its leader."""
        fields["leader_id"] = messages.NO_LEADER if self.leader_id is None else self.leader_id
        return kind(error_code=error, leader_epoch=self.epoch, leader_endpoints=self.leader_endpoints, **fields)

    def append_control(self, leader: Leader, *records: ControlRecord) -> int:
        """As leader, append a control batch; its end offset. A voter set in it counts from now on."""
        base_offset = self.log.end_offset
        self.emit(effects.AppendControl(base_offset, self.epoch, records))
        self.history.add(voters.Control(base_offset + index, record) for index, record in enumerate(records))
        leader.set_voters(self.history.voters)
        return base_offset + len(records)

    def raise_high_watermark(self, offset: int) -> None:
        if offset > self.high_watermark:
            self.high_watermark = offset
            self.emit(effects.HighWatermark(offset))

    # -- transitions

    def become_unattached(self, epoch: int, leader_id: NodeId | None = None) -> None:
        """In a new epoch, or back in the same one after a lost pre-vote. Time already waited counts."""
        state = self.state
        if isinstance(state, Leader | Follower) or (isinstance(state, Nominee) and state.tally.is_lost):
            self._enter(Unattached(self.election_deadline_ms()), epoch, leader_id)
        else:
            self._enter(Unattached(state.election_deadline_ms), epoch, leader_id)

    def become_prospective(self) -> None:
        state = Prospective(self.election_deadline_ms(), Tally(self.history.voters, {self.key.id}))
        self._enter(state, self.epoch, self.leader_id, self.leader_endpoints)
        if state.tally.is_won:
            self.become_candidate()

    def become_candidate(self) -> None:
        """Raise the epoch and vote for itself."""
        state = Candidate(self.election_deadline_ms(), Tally(self.history.voters, {self.key.id}))
        self._enter(state, self.epoch + 1, voted_key=self.key)
        if state.tally.is_won:
            self.become_leader(state.tally)

    def become_leader(self, tally: Tally) -> None:
        """Open the epoch with a record: nothing is committed before that is (Raft's rule for old epochs)."""
        leader = Leader(self.settings, self.log.end_offset, self.now_ms)
        leader.set_voters(tally.voters)
        leader.known_voters = tally.voters.with_voter(self.settings.voter)
        self._enter(leader, self.epoch, self.key.id, self.settings.endpoints)
        granting = tuple(voter.key for voter in tally.voters if voter.key.id in tally.granted)
        opening = voters.LeaderChange(self.key.id, tuple(voter.key for voter in tally.voters), granting)
        self.append_control(leader, opening, *self._own_voter_records())

    def _own_voter_records(self) -> tuple[ControlRecord, ...]:
        """The first leader writes the voter set of formatting into the log; any leader corrects its own record."""
        history, own = self.history, self.settings.voter
        is_outside_log = history.voters_offset == -1
        if history.version < voters.DYNAMIC or not (is_outside_log or history.voters.needs_update(own)):
            return ()
        return voters.KRaftVersion(history.version), voters.Voters(history.voters.with_voter(own))

    def become_follower(self, epoch: int, leader_id: NodeId, endpoints: Endpoints) -> None:
        """Without a way to the leader, that is only to know of it."""
        if endpoints:
            self._enter(Follower(self.settings.fetch_timeout_ms, self.now_ms), epoch, leader_id, endpoints)
        else:
            self.become_unattached(epoch, leader_id)

    def become_resigned(self, leader: Leader) -> None:
        candidates = tuple(other.key for other in leader.others())
        state = Resigned(self.election_deadline_ms(), self.others(), candidates)
        self._enter(state, self.epoch, self.key.id, self.settings.endpoints)

    def others(self) -> list[NodeId]:
        """The other voters."""
        return [node_id for node_id in self.history.voters.by_id if node_id != self.key.id]

    def give_vote(self, candidate: ReplicaKey) -> None:
        """The only vote in this epoch, on disk before it is told."""
        self.voted_key = candidate
        self._persist()
        if isinstance(self.state, Unattached | Prospective):
            self.state.election_deadline_ms = self.election_deadline_ms()

    def restore(self, state: State, election: ElectionState, endpoints: Endpoints) -> None:
        """Begin again where the last life of this replica ended."""
        self.state, self.epoch, self.voted_key = state, election.epoch, election.voted_key
        self.leader_id, self.leader_endpoints = election.leader_id, endpoints
        self._persist()
        self.emit(effects.LeaderChanged(self.epoch, self.leader_id, endpoints))

    def _enter(
        self,
        state: State,
        epoch: int,
        leader_id: NodeId | None = None,
        endpoints: Endpoints = (),
        voted_key: ReplicaKey | None = None,
    ) -> None:
        former, known = self.state, (self.epoch, self.leader_id)
        if (type(former), type(state)) not in TRANSITIONS or epoch < self.epoch:
            raise AssertionError(f"no way from {former} in epoch {self.epoch} to {state} in {epoch}")
        self.voted_key = voted_key if epoch > self.epoch else self.voted_key
        self.state, self.epoch, self.leader_id, self.leader_endpoints = state, epoch, leader_id, endpoints
        self.peers.reset()
        self._persist()
        if isinstance(former, Leader):
            self._end_leadership(former)
        if known != (epoch, leader_id) or isinstance(former, Leader):
            start_offset = self.leader.epoch_start_offset if self.leader else None
            self.emit(effects.LeaderChanged(epoch, leader_id, endpoints, start_offset))

    def _persist(self) -> None:
        election = ElectionState(self.epoch, self.leader_id, self.voted_key)
        if election != self._persisted:
            self._persisted = election
            self.emit(effects.PersistElection(election))

    def _end_leadership(self, leader: Leader) -> None:
        """Whoever waits for this leader must ask the next."""
        for fetch in self.parked:
            self.reply(fetch.handle, self.response(messages.FetchResponse, ErrorCode.NOT_LEADER_OR_FOLLOWER))
        self.parked.clear()
        self.finish_change(leader, ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def finish_change(self, leader: Leader, error: ErrorCode, message: str | None = None) -> None:
        """Answer whoever waits for a change of the voters."""
        if leader.change:
            self.reply(leader.change.handle, messages.Response(error_code=error, error_message=message))
            leader.change = None
