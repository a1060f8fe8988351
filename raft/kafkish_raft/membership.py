"""Changes of the voter set, one at a time: AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter, upgrade (KIP-853).

A change is a voters record. It counts from the moment it is in the log, and the next may begin when it is committed:
with two at once, two majorities could exist that have no voter in common.
"""

from typing import NamedTuple

from kafkish_raft import messages
from kafkish_raft.elections import Elections
from kafkish_raft.events import Handle
from kafkish_raft.leader import Leader, VoterChange
from kafkish_raft.messages import ErrorCode
from kafkish_raft.states import Follower
from kafkish_raft.voters import DYNAMIC, NO_DIRECTORY, ControlRecord, KRaftVersion, NodeId, Voter, Voters


class Refusal(NamedTuple):
    """Why a change can not be made, or not now."""

    error_code: ErrorCode
    message: str | None = None


_NOT_YET = Refusal(ErrorCode.REQUEST_TIMED_OUT, "the leader is new and has committed nothing yet; try again")


class Membership(Elections):
    # -- the leader's side

    def leader_for_change(self) -> Leader | Refusal:
        """The leader, if it may begin a change of the voters now."""
        leader = self.leader
        if leader is None or self.is_shutting_down:
            return Refusal(self.check_leader_only(self.epoch))
        if self.history.version < DYNAMIC:
            return Refusal(ErrorCode.UNSUPPORTED_VERSION, "kraft.version 0 has fixed voters; upgrade to 1 first")
        if not leader.is_established:
            return _NOT_YET
        return (
            leader
            if self.is_change_committed(leader)
            else Refusal(ErrorCode.REQUEST_TIMED_OUT, "an earlier change of the voters is not committed yet; try again")
        )

    def is_change_committed(self, leader: Leader) -> bool:
        offset = self.history.voters_offset
        return leader.change is None and offset is not None and offset < self.high_watermark

    def on_add_request(self, request: messages.AddRaftVoterRequest, handle: Handle) -> None:
        """An observer that has caught up becomes a voter."""
        leader, voters = self.leader_for_change(), self.history.voters
        if isinstance(leader, Leader):
            leader = self._check_addition(leader, request.voter) or leader
        if isinstance(leader, Refusal):
            self._refuse(handle, messages.AddRaftVoterResponse, leader)
            return
        self._change(leader, handle, messages.AddRaftVoterResponse, Voters(voters.with_voter(request.voter)))
        if not request.ack_when_committed:
            self.finish_change(leader, ErrorCode.NONE)

    def _check_addition(self, leader: Leader, voter: Voter) -> Refusal | None:
        key, version = voter.key, self.history.version
        if key.id < 0 or key.directory_id == NO_DIRECTORY or not voter.endpoints:
            return Refusal(ErrorCode.INVALID_REQUEST, "a voter has a node id, a directory id and a listener")
        if key.id in self.history.voters.by_id:
            return Refusal(ErrorCode.DUPLICATE_VOTER, f"node {key.id} is a voter already; remove it first")
        if not voter.supports(version):
            return Refusal(ErrorCode.INVALID_REQUEST, f"node {key.id} does not support kraft.version {version}")
        if not leader.is_caught_up(key, self.now_ms):
            return Refusal(ErrorCode.REQUEST_TIMED_OUT, f"node {key.id} has not caught up with the log; try again")
        return None

    def _refuse(self, handle: Handle, kind: type[messages.Response], refusal: Refusal) -> None:
        self.reply(handle, kind(error_code=refusal.error_code, error_message=refusal.message))

    def _change(self, leader: Leader, handle: Handle, kind: type[messages.Response], *records: ControlRecord) -> None:
        end_offset = self.append_control(leader, *records)
        leader.change = VoterChange(handle, kind, end_offset, self.now_ms + self.settings.request_timeout_ms)

    def on_remove_request(self, request: messages.RemoveRaftVoterRequest, handle: Handle) -> None:
        """The leader may remove itself: it leads until that is committed."""
        leader, voters, key = self.leader_for_change(), self.history.voters, request.voter_key
        if isinstance(leader, Leader) and (key.id < 0 or key.directory_id == NO_DIRECTORY):
            leader = Refusal(ErrorCode.INVALID_REQUEST, "a voter has a node id and a directory id")
        elif isinstance(leader, Leader) and (len(voters) == 1 or key not in [voter.key for voter in voters]):
            leader = Refusal(ErrorCode.VOTER_NOT_FOUND, f"{key} is no voter, or the last one")
        if isinstance(leader, Refusal):
            self._refuse(handle, messages.RemoveRaftVoterResponse, leader)
            return
        self._change(leader, handle, messages.RemoveRaftVoterResponse, Voters(voters.without(key.id)))

    def on_update_request(self, request: messages.UpdateRaftVoterRequest, handle: Handle) -> None:
        """A voter has new endpoints or versions. Under kraft.version 0 its directory id is noted for the upgrade."""
        error = self.check_leader_only(request.current_leader_epoch) or self._update(request)
        self.reply(handle, self.response(messages.UpdateRaftVoterResponse, error))

    def _update(self, request: messages.UpdateRaftVoterRequest) -> ErrorCode:
        voter, key = request.voter, request.voter.key
        is_static = self.history.version < DYNAMIC
        leader = self.leader if is_static else self.leader_for_change()
        if not isinstance(leader, Leader):
            return ErrorCode.REQUEST_TIMED_OUT
        if not voter.supports(self.history.version) or not voter.endpoints:
            return ErrorCode.INVALID_REQUEST
        if not self.history.voters.contains(key) or key.directory_id == NO_DIRECTORY:
            return ErrorCode.VOTER_NOT_FOUND
        if is_static:
            leader.known_voters = leader.known_voters.with_voter(voter)
        else:
            self.append_control(leader, Voters(self.history.voters.with_voter(voter)))
        leader.record_contact(key, self.now_ms)
        return ErrorCode.NONE

    def on_upgrade_request(self, request: messages.UpgradeRequest, handle: Handle) -> None:
        """From a static quorum to a dynamic one: write into the log who the voters are."""
        leader = self.leader
        refusal = self._check_upgrade(request)
        if refusal is not None or leader is None:
            self._refuse(handle, messages.UpgradeResponse, refusal or Refusal(ErrorCode.NONE))
            return
        records = KRaftVersion(request.version), Voters(leader.known_voters)
        self._change(leader, handle, messages.UpgradeResponse, *records)

    def _check_upgrade(self, request: messages.UpgradeRequest) -> Refusal | None:
        leader, version = self.leader, self.history.version
        if leader is None or request.epoch != self.epoch:
            return Refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"this node does not lead epoch {request.epoch}")
        if not leader.is_established or leader.change is not None:
            return _NOT_YET
        if request.version == version:
            return Refusal(ErrorCode.NONE, f"kraft.version is {version} already")
        if request.version != DYNAMIC:
            return Refusal(
                ErrorCode.INVALID_UPDATE_VERSION, f"no way from kraft.version {version} to {request.version}"
            )
        silent = [voter.key.id for voter in leader.known_voters if voter.key.directory_id == NO_DIRECTORY]
        if silent or not all(voter.supports(DYNAMIC) for voter in leader.known_voters):
            return Refusal(ErrorCode.INVALID_UPDATE_VERSION, f"voters {silent} have not told that they support it")
        return None

    def on_change_committed(self, leader: Leader) -> None:
        """The high watermark rose: answer whose change is committed. A leader that is no longer a voter leaves."""
        change, offset = leader.change, self.history.voters_offset
        if change and change.end_offset <= self.high_watermark:
            self.finish_change(leader, ErrorCode.NONE)
        if not self.is_voter and offset is not None and offset < self.high_watermark:
            leader.is_resigning = True

    def expire_change(self, leader: Leader) -> None:
        """Nobody waits for ever. The record, if written, may still be committed."""
        if leader.change and self.now_ms >= leader.change.deadline_ms:
            self.finish_change(leader, ErrorCode.REQUEST_TIMED_OUT, "not committed in time; it may be later")

    # -- the follower's side

    def tend_membership(self, follower: Follower) -> None:
        """Now and then, see that the voter set describes this node rightly; ask the leader to correct it."""
        if self.leader_id is not None and self.now_ms >= follower.membership_deadline_ms:
            if self.peers.any_under_way() or not self.peers.is_ready(self.leader_id):
                return
            follower.rest_from_membership(self.now_ms)
            request = self._membership_request(follower)
            if request is not None:
                self.send(self.leader_id, self.leader_endpoints, request)

    def _membership_request(self, follower: Follower) -> messages.Request | None:
        """A voter corrects its record. An observer that is to join first removes the voter that its node was before."""
        own, voters = self.settings.voter, self.history.voters
        is_dynamic = self.history.version >= DYNAMIC
        if self.is_voter:
            is_right = not voters.needs_update(own) if is_dynamic else follower.has_updated_leader
            return None if is_right else messages.UpdateRaftVoterRequest(self.epoch, own)
        if not (is_dynamic and self.settings.auto_join):
            return None
        if own.key.id in voters.by_id:
            return messages.RemoveRaftVoterRequest(voters.by_id[own.key.id].key)
        return messages.AddRaftVoterRequest(own, ack_when_committed=False)

    def on_update_response(self, _source: NodeId, response: messages.UpdateRaftVoterResponse) -> bool:
        """A leader that is too old to know this request counts as told."""
        handled = None if response.error_code == ErrorCode.UNSUPPORTED_VERSION else self.absorb(response)
        if handled is None and isinstance(self.state, Follower):
            self.state.has_updated_leader = True
            self.state.note_contact(self.now_ms)
        return handled is not False

    def on_change_response(self, _source: NodeId, response: messages.Response) -> bool:
        """AddRaftVoter or RemoveRaftVoter: it will be seen in the log, or asked for again."""
        return response.error_code in (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT)
