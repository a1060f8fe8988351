"""Changes of the voter set, one at a time: AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter, upgrade (KIP-853).

A change is a voters record. It counts from the moment it is in the log, and the next may begin when it is committed:
with two at once, two majorities could exist that have no voter in common.
"""

from kafkish_raft import messages
from kafkish_raft.elections import Elections
from kafkish_raft.events import Handle
from kafkish_raft.messages import ErrorCode
from kafkish_raft.replica import Refusal
from kafkish_raft.states import Follower, Leader, VoterChange
from kafkish_raft.voters import DYNAMIC, NO_DIRECTORY, ControlRecord, KRaftVersion, NodeId, Voters


class Membership(Elections):
    def leader_for_change(self) -> Leader:
        """The leader, if it may begin a change of the voters now."""
        leader = self.established_leader(self.epoch)
        if self.history.version < DYNAMIC:
            raise Refusal(ErrorCode.UNSUPPORTED_VERSION, "kraft.version 0 has fixed voters; upgrade to 1 first")
        if not self.is_change_committed(leader):
            raise Refusal(ErrorCode.REQUEST_TIMED_OUT, "an earlier change of the voters is not committed; try again")
        return leader

    def established_leader(self, epoch: int) -> Leader:
        if self.leader is None or epoch != self.epoch or self.is_shutting_down:
            raise Refusal(self.check_leader_only(epoch))
        if not self.leader.is_established:
            raise Refusal(ErrorCode.REQUEST_TIMED_OUT, "the leader is new and has committed nothing yet; try again")
        return self.leader

    def is_change_committed(self, leader: Leader) -> bool:
        offset = self.history.voters_offset
        return leader.change is None and offset is not None and offset < self.high_watermark

    def _change(self, leader: Leader, handle: Handle, *records: ControlRecord) -> None:
        end_offset = self.append_control(leader, *records)
        leader.change = VoterChange(handle, end_offset, self.now_ms + self.settings.request_timeout_ms)

    def on_add_request(self, request: messages.AddRaftVoterRequest, handle: Handle) -> None:
        """An observer that has caught up becomes a voter."""
        leader, voters, key = self.leader_for_change(), self.history.voters, request.voter.key
        if key.id < 0 or key.directory_id == NO_DIRECTORY or not request.voter.endpoints:
            raise Refusal(ErrorCode.INVALID_REQUEST, "a voter has a node id, a directory id and a listener")
        if key.id in voters.by_id:
            raise Refusal(ErrorCode.DUPLICATE_VOTER, f"node {key.id} is a voter already; remove it first")
        if not request.voter.supports(DYNAMIC):
            raise Refusal(ErrorCode.INVALID_REQUEST, f"node {key.id} does not support kraft.version {DYNAMIC}")
        if not leader.is_caught_up(key):
            raise Refusal(ErrorCode.REQUEST_TIMED_OUT, f"node {key.id} has not caught up with the log; try again")
        self._change(leader, handle, Voters(voters.with_voter(request.voter)))
        if not request.ack_when_committed:
            self.finish_change(leader, ErrorCode.NONE)

    def on_remove_request(self, request: messages.RemoveRaftVoterRequest, handle: Handle) -> None:
        """The leader may remove itself: it leads until that is committed."""
        leader, voters, key = self.leader_for_change(), self.history.voters, request.voter_key
        if key.id < 0 or key.directory_id == NO_DIRECTORY:
            raise Refusal(ErrorCode.INVALID_REQUEST, "a voter has a node id and a directory id")
        if len(voters) == 1 or key not in [voter.key for voter in voters]:
            raise Refusal(ErrorCode.VOTER_NOT_FOUND, f"node {key.id} is no voter with this directory, or the last one")
        self._change(leader, handle, Voters(voters.without(key.id)))

    def on_update_request(self, request: messages.UpdateRaftVoterRequest, handle: Handle) -> None:
        """A voter has new endpoints or versions. Under kraft.version 0 its directory id is noted for the upgrade."""
        error = self.check_leader_only(request.current_leader_epoch)
        try:
            error = error or self._update(request)
        except Refusal:
            error = ErrorCode.REQUEST_TIMED_OUT
        self.reply(handle, self.response(messages.QuorumResponse, error))

    def _update(self, request: messages.UpdateRaftVoterRequest) -> ErrorCode:
        voter, voters, version = request.voter, self.history.voters, self.history.version
        leader = self.established_leader(self.epoch) if version < DYNAMIC else self.leader_for_change()
        if not voter.supports(version) or not voter.endpoints:
            return ErrorCode.INVALID_REQUEST
        if not voters.contains(voter.key) or voter.key.directory_id == NO_DIRECTORY:
            return ErrorCode.VOTER_NOT_FOUND
        if version < DYNAMIC:
            leader.known_voters = leader.known_voters.with_voter(voter)
        else:
            self.append_control(leader, Voters(voters.with_voter(voter)))
        leader.record_contact(voter.key, self.now_ms)
        return ErrorCode.NONE

    def on_upgrade_request(self, request: messages.UpgradeRequest, handle: Handle) -> None:
        """From a static quorum to a dynamic one: write into the log who the voters are."""
        leader, version = self.established_leader(request.epoch), self.history.version
        if request.version == version:
            raise Refusal(ErrorCode.NONE, f"kraft.version is {version} already")
        if request.version != DYNAMIC or leader.change:
            message = f"kraft.version can not go from {version} to {request.version} now"
            raise Refusal(ErrorCode.INVALID_UPDATE_VERSION, message)
        known = leader.known_voters
        unfit = [
            voter.key.id for voter in known if voter.key.directory_id == NO_DIRECTORY or not voter.supports(DYNAMIC)
        ]
        if unfit:
            raise Refusal(ErrorCode.INVALID_UPDATE_VERSION, f"voters {unfit} have not told that they support it")
        self._change(leader, handle, KRaftVersion(DYNAMIC), Voters(known))

    def on_change_committed(self, leader: Leader) -> None:
        """The high watermark rose: answer whose change is committed. A leader that is no longer a voter leaves."""
        offset = self.history.voters_offset
        if leader.change and leader.change.end_offset <= self.high_watermark:
            self.finish_change(leader, ErrorCode.NONE)
        if not self.is_voter and offset is not None and offset < self.high_watermark:
            leader.is_resigning = True

    # -- the follower's side

    def tend_membership(self, follower: Follower) -> None:
        """Now and then, see that the voter set describes this node rightly; ask the leader to correct it."""
        if self.leader_id is None or self.now_ms < follower.membership_deadline_ms or self.peers.any_under_way():
            return
        if self.peers.is_ready(self.leader_id):
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

    def on_update_response(self, _source: NodeId, response: messages.QuorumResponse) -> bool:
        """A leader that is too old to know this request counts as told."""
        handled = None if response.error_code == ErrorCode.UNSUPPORTED_VERSION else self.absorb(response)
        if handled is None and isinstance(self.state, Follower):
            self.state.has_updated_leader = True
            self.state.note_contact(self.now_ms)
        return handled is not False

    def on_change_response(self, _source: NodeId, response: messages.Response) -> bool:
        """AddRaftVoter or RemoveRaftVoter: it will be seen in the log, or asked for again."""
        return response.error_code in (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT)
