"""The invariants. The checker sees every effect before it is carried out, and every node after each event.

It knows the truth: what was committed, who was elected, how everyone voted. It asks the core for nothing but its state.
"""

from bisect import bisect_left
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from kafkish_raft import messages
from kafkish_raft.messages import ErrorCode
from kafkish_raft.ports import ElectionState, OffsetAndEpoch
from kafkish_raft.states import Leader
from kafkish_raft.tests.simulation.disk import Entry, Snapshot
from kafkish_raft.tests.simulation.node import EMPTY_DIGEST, Node, extend_digest
from kafkish_raft.voters import NO_DIRECTORY, NodeId, ReplicaKey, Voter, Voters, VoterSet

if TYPE_CHECKING:
    from kafkish_raft.tests.simulation.world import World

ONE_LEADER: Final = "one leader per epoch"
EPOCHS_RISE: Final = "epochs never fall"
WATERMARK_RISES: Final = "the high watermark never falls"
COMMITTED_STAYS: Final = "nothing below the high watermark ever changes"
ON_MAJORITY: Final = "the high watermark is on a majority's flushed logs"
SNAPSHOT_AT_START: Final = "a log that does not start at zero starts at a snapshot"
SNAPSHOT_COMMITTED: Final = "a snapshot holds committed records only"
LEADER_LOADS_NONE: Final = "a leader never loads a snapshot"
OWN_RECORD: Final = "a leader commits only over a record of its own epoch"
VOTE_FOR_LONGER: Final = "a vote goes only to a log that holds at least the voter's"
OWN_NAME: Final = "nobody votes in the name of another disk"
ONE_VOTE: Final = "no vote twice in an epoch"
PERSIST_FIRST: Final = "nothing is told that is not on disk"
PRE_VOTE_FIRST: Final = "no candidate without a majority of pre-votes"
CHECK_QUORUM: Final = "a leader that lost its majority steps down"
REMOVED_LEAVES: Final = "a leader that was removed from the voters steps down"
VOTERS_OF_LOG: Final = "the voters are those of the log, also when it was cut or replaced"
ONE_CHANGE: Final = "one voter change at a time"
OWN_EPOCH: Final = "a leader serves fetches of its own epoch only"
LOGS_MATCH: Final = "two logs with the same offset and epoch hold the same record"
EQUAL_AT_END: Final = "all committed data is equal everywhere"
LIVENESS: Final = "with a majority reachable, a proposal commits in bounded time"
SETTLED: Final = "with all nodes up, the voters become those that they should be"
NO_ACCIDENT: Final = "no step fails"


class Violation(AssertionError):
    """An invariant does not hold."""

    def __init__(self, invariant: str, detail: str) -> None:
        super().__init__(invariant, detail)  # as given, so that it can travel between processes
        self.invariant = invariant

    def __str__(self) -> str:
        return ": ".join(self.args)


class Checker:
    """What was and what must be."""

    looks_away_from: Collection[str] = ()
    """Invariants that a test of the others switches off."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.committed: list[Entry] = []
        self.committed_in: list[int] = []
        """The epoch in which each was committed. Leaders of later epochs hold it; one of an earlier may still come."""
        self.digests = [EMPTY_DIGEST]
        self.leaders: dict[int, tuple[NodeId, int]] = {}
        self.votes: dict[tuple[ReplicaKey, int], ReplicaKey] = {}
        self.pre_votes: dict[tuple[ReplicaKey, int], set[NodeId]] = {}
        self.records: dict[tuple[int, int], int] = {}
        self.lost_disks: set[ReplicaKey] = set()
        self._epochs: dict[NodeId, int] = {}
        self._watermarks: dict[NodeId, int] = {}
        self._heard: dict[NodeId, tuple[int, set[NodeId]]] = {}
        """Of each leader: since when, and which voters it has heard since."""

    def _fail(self, invariant: str, node: Node, detail: str) -> None:
        if invariant not in self.looks_away_from:
            raise Violation(invariant, f"{node} in {node.raft and node.raft.role} {detail}")

    # -- lives

    def started(self, node: Node) -> None:
        """A new life knows what is on its disk."""
        self._epochs[node.id] = node.disk.election.epoch if node.disk.election else 0
        self._watermarks[node.id] = 0

    def crashed(self, node: Node) -> None:
        """Nothing to check: what was told has been checked when it was told."""

    def clock_jumped(self, node: Node, jump_ms: int) -> None:
        """A leader may not be blamed for time that did not pass."""
        if node.id in self._heard:
            since_ms, voices = self._heard[node.id]
            self._heard[node.id] = (since_ms + max(0, jump_ms), voices)

    # -- effects, before they are carried out

    def persisting(self, node: Node, election: ElectionState) -> None:
        former = node.disk.election or ElectionState()
        if election.epoch < former.epoch:
            self._fail(EPOCHS_RISE, node, f"persists epoch {election.epoch} after {former.epoch}")
        if election.epoch == former.epoch and former.voted_key not in (None, election.voted_key):
            self._fail(ONE_VOTE, node, f"replaces its vote for {former.voted_key} by {election.voted_key}")
        if election.epoch > former.epoch and election.voted_key == node.key:
            self._standing(node, election.epoch)

    def _standing(self, node: Node, epoch: int) -> None:
        """By the voters as they are now. If a crash takes back their last change, the node may stand all the same."""
        assert node.raft
        granted = self.pre_votes.get((node.key, epoch - 1), {node.id}) & set(node.raft.voters.by_id)
        if len(granted) < node.raft.voters.majority:
            self._fail(PRE_VOTE_FIRST, node, f"stands for epoch {epoch} with pre-votes of {sorted(granted)}")

    def appending(self, node: Node, offset: int, entry: Entry) -> None:
        known_uid = self.records.setdefault((offset, entry.epoch), entry.uid)
        if known_uid != entry.uid:
            self._fail(LOGS_MATCH, node, f"appends another record at offset {offset} of epoch {entry.epoch}")
        if isinstance(entry.control, Voters) and node.raft and isinstance(node.raft.state, Leader):
            self._changing(node, entry.control.voters)

    def _changing(self, node: Node, voters: VoterSet) -> None:
        """A leader changes the voters: the sets must share a majority, and the one before must be committed."""
        sets = [(offset, record.voters) for offset, record in node.disk.controls() if isinstance(record, Voters)]
        if not sets:
            return
        offset, former = sets[-1]
        changed = {voter.key for voter in voters} ^ {voter.key for voter in former}
        if len(changed) > 1 or (changed and offset >= self._watermarks[node.id]):
            self._fail(ONE_CHANGE, node, f"changes {sorted(changed)}, the set before is at {offset}")

    def knows_voters(self, node: Node) -> None:
        if node.raft is None:
            return
        sets = [record.voters for _, record in node.disk.controls() if isinstance(record, Voters)]
        voters = sets[-1] if sets else node.raft.settings.static_voters
        if node.raft.voters != voters:
            self._fail(VOTERS_OF_LOG, node, f"counts {list(node.raft.voters.by_id)}, its log {list(voters.by_id)}")

    def truncating(self, node: Node, end_offset: int) -> None:
        if end_offset < self._watermarks[node.id]:
            self._fail(COMMITTED_STAYS, node, f"truncates to {end_offset}, committed {self._watermarks[node.id]}")
        self._losing(node, end_offset)

    def _losing(self, node: Node, end_offset: int) -> None:
        """A committed record that is in a log stays there, also if the node does not know yet that it is committed."""
        is_held = end_offset < min(len(self.committed), node.disk.end_offset) and end_offset >= node.disk.start_offset
        if is_held and node.disk.entry(end_offset) == self.committed[end_offset]:
            self._fail(COMMITTED_STAYS, node, f"removes the committed record at {end_offset}")

    def snapshotting(self, node: Node, snapshot: Snapshot) -> None:
        offset, epoch = snapshot.snapshot_id
        if offset > len(self.committed):
            self._fail(SNAPSHOT_COMMITTED, node, f"takes a snapshot at {offset}; committed {len(self.committed)}")
        if self.committed[offset - 1].epoch != epoch or self.digests[offset] != snapshot.digest:
            self._fail(SNAPSHOT_COMMITTED, node, f"takes a snapshot at {snapshot.snapshot_id} of other records")
        sets = [entry.control.voters for entry in self.committed[:offset] if isinstance(entry.control, Voters)]
        if sets and snapshot.voters != sets[-1]:
            self._fail(SNAPSHOT_COMMITTED, node, f"takes a snapshot at {snapshot.snapshot_id} with other voters")

    def installing(self, node: Node, snapshot_id: OffsetAndEpoch) -> None:
        assert node.raft
        if isinstance(node.raft.state, Leader):
            self._fail(LEADER_LOADS_NONE, node, f"loads {snapshot_id}")
        if snapshot_id.offset < self._watermarks[node.id]:
            self._fail(COMMITTED_STAYS, node, f"loads {snapshot_id} below its high watermark")
        self._losing(node, snapshot_id.offset)

    def sending(self, node: Node, request: messages.Request) -> None:
        if not isinstance(request, messages.VoteRequest):
            return
        key, epoch = request.replica_key, request.replica_epoch
        self._told(node, epoch)
        if request.pre_vote:
            self.pre_votes.setdefault((key, epoch), {node.id})
        else:
            self._vote(node, key, epoch)

    def replying(self, node: Node, request: messages.Request, response: messages.Response) -> None:
        if isinstance(response, messages.QuorumResponse):
            self._told(node, response.leader_epoch)
        if isinstance(request, messages.VoteRequest) and isinstance(response, messages.VoteResponse):
            if response.vote_granted and request.voter_key.directory_id not in (NO_DIRECTORY, node.disk.directory_id):
                self._fail(OWN_NAME, node, f"votes as {request.voter_key}")
            if response.vote_granted and request.pre_vote:
                self.pre_votes.setdefault((request.replica_key, request.replica_epoch), set()).add(node.id)
            elif response.vote_granted:
                if (request.last_offset_epoch, request.last_offset) < (node.disk.last_epoch, node.disk.end_offset):
                    self._fail(VOTE_FOR_LONGER, node, f"votes for a log that ends at {request.last_offset}")
                self._vote(node, request.replica_key, request.replica_epoch)
        elif isinstance(request, messages.FetchRequest | messages.FetchSnapshotRequest):
            self._serving(node, request, response)

    def _vote(self, node: Node, candidate: ReplicaKey, epoch: int) -> None:
        given = self.votes.setdefault((node.key, epoch), candidate)
        election = node.disk.election
        if given != candidate:
            self._fail(ONE_VOTE, node, f"votes in epoch {epoch} for {candidate} after {given}")
        if election is None or (election.epoch, election.voted_key) != (epoch, candidate):
            self._fail(PERSIST_FIRST, node, f"votes in epoch {epoch} for {candidate}; on disk is {election}")

    def _told(self, node: Node, epoch: int) -> None:
        if epoch > (node.disk.election.epoch if node.disk.election else 0):
            self._fail(PERSIST_FIRST, node, f"tells of epoch {epoch}; on disk is {node.disk.election}")

    def _serving(
        self, node: Node, request: messages.FetchRequest | messages.FetchSnapshotRequest, response: messages.Response
    ) -> None:
        if response.error_code != ErrorCode.NONE:
            return
        assert node.raft
        if request.current_leader_epoch != node.raft.epoch:
            self._fail(OWN_EPOCH, node, f"in epoch {node.raft.epoch} serves a fetch of {request.current_leader_epoch}")

    def elected(self, node: Node, epoch: int) -> None:
        life = (node.id, node.incarnation)
        known = self.leaders.setdefault(epoch, life)
        if known != life:
            self._fail(ONE_LEADER, node, f"is elected in epoch {epoch}, as was n{known[0]}")
        end = bisect_left(self.committed_in, epoch)
        if not self._holds(node, end):
            self._fail(COMMITTED_STAYS, node, f"is elected without the record at {end - 1}, which is committed")
        assert node.raft
        self._heard[node.id] = (node.raft.now_ms, set())

    def _holds(self, node: Node, end_offset: int) -> bool:
        """Whether a log holds the committed records below an offset."""
        disk = node.disk
        if end_offset <= disk.start_offset:
            return True
        return end_offset <= disk.end_offset and disk.entry(end_offset - 1) == self.committed[end_offset - 1]

    def committing(self, node: Node, offset: int) -> None:
        former = self._watermarks[node.id]
        if offset < former:
            self._fail(WATERMARK_RISES, node, f"goes back from {former} to {offset}")
        if node.is_leading:
            for index in range(len(self.committed), offset):
                self.committed.append(node.disk.entry(index))
                self.committed_in.append(node.raft.epoch if node.raft else 0)
                self.digests.append(extend_digest(self.digests[-1], self.committed[-1]))
            self._check_majority(node, offset)
            if node.raft and self.committed[offset - 1].epoch != node.raft.epoch:
                self._fail(OWN_RECORD, node, f"commits {offset} with the epoch {self.committed[offset - 1].epoch}")
        if offset > len(self.committed):
            self._fail(WATERMARK_RISES, node, f"at {offset} is ahead of every leader")
        self._watermarks[node.id] = offset

    def _check_majority(self, node: Node, offset: int) -> None:
        assert node.raft
        voters = node.raft.voters
        holders = [voter.key.id for voter in voters if self._has_flushed(voter, offset)]
        if len(holders) < voters.majority:
            self._fail(ON_MAJORITY, node, f"commits {offset}, flushed by {holders} of {list(voters.by_id)}")

    def _has_flushed(self, voter: Voter, offset: int) -> bool:
        if voter.key in self.lost_disks:
            return True  # it can not vote any more, so it can not elect a leader without these records
        node = self.world.nodes[voter.key.id]
        is_same_disk = voter.key.directory_id in (NO_DIRECTORY, node.disk.directory_id)
        return is_same_disk and offset <= node.disk.flushed_offset and self._holds(node, offset)

    def applied(self, node: Node) -> None:
        if self.digests[node.applied_offset] != node.digest:
            self._fail(COMMITTED_STAYS, node, f"has applied other records below {node.applied_offset}")

    # -- nodes, after each event

    def after(self, node: Node) -> None:
        raft, disk = node.raft, node.disk
        if raft is None:
            return
        if raft.epoch < self._epochs[node.id]:
            self._fail(EPOCHS_RISE, node, f"goes from {self._epochs[node.id]} back to {raft.epoch}")
        self._epochs[node.id] = raft.epoch
        if raft.high_watermark != self._watermarks[node.id]:
            self._fail(WATERMARK_RISES, node, f"is at {raft.high_watermark}, told {self._watermarks[node.id]}")
        if disk.start_offset > 0 and (not disk.snapshots or disk.snapshots[0].snapshot_id.offset != disk.start_offset):
            self._fail(SNAPSHOT_AT_START, node, f"starts at {disk.start_offset}, earliest {disk.earliest_snapshot}")
        if isinstance(raft.state, Leader):
            self._after_leader(node)

    def _after_leader(self, node: Node) -> None:
        raft = node.raft
        assert raft
        since_ms, voices = self._heard[node.id]
        needed = raft.voters.majority - raft.voters.contains(node.key)
        if len(voices & raft.voters.by_id.keys()) >= needed:
            since_ms = raft.now_ms
            self._heard[node.id] = (since_ms, set())
        patience_ms = 2 * raft.settings.fetch_timeout_ms * 3 // 2  # its count and this one may begin at different times
        if raft.now_ms - since_ms > patience_ms:
            self._fail(CHECK_QUORUM, node, f"leads for {raft.now_ms - since_ms} ms without hearing a majority")
        offset = raft.history.voters_offset
        if not raft.voters.contains(node.key) and offset is not None and offset < raft.high_watermark:
            self._fail(REMOVED_LEAVES, node, f"leads epoch {raft.epoch}, no voter since {offset}")

    def arriving(self, node: Node, request: messages.Request) -> None:
        """A leader may hear a voter of its epoch."""
        if isinstance(request, messages.FetchRequest | messages.FetchSnapshotRequest):
            key = request.replica_key
        elif isinstance(request, messages.UpdateRaftVoterRequest):
            key = request.voter.key
        else:
            return
        raft = node.raft
        if raft is None or request.current_leader_epoch != raft.epoch:
            return
        if not isinstance(raft.state, Leader) or not raft.voters.contains(key) or key.id == node.id:
            return
        self._heard[node.id][1].add(key.id)
