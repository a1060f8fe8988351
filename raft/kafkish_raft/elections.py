"""Vote, BeginQuorumEpoch and EndQuorumEpoch: how a leader is found, made known and replaced (KIP-595, KIP-996)."""

from kafkish_raft import messages
from kafkish_raft.events import Handle
from kafkish_raft.messages import ErrorCode
from kafkish_raft.replica import Replica
from kafkish_raft.states import Follower, Leader, Nominee, Prospective, Resigned, Unattached
from kafkish_raft.voters import Endpoints, NodeId, ReplicaKey, Voter, is_same_replica


class Elections(Replica):
    def learn(self, epoch: int, leader_id: NodeId, endpoints: Endpoints) -> bool:
        """Follow what a message tells of epoch and leader. Whether it was news."""
        endpoints = endpoints or self.history.voters.endpoints(leader_id)
        if leader_id in (messages.NO_LEADER, self.key.id):  # the latter: an earlier life of this node led that epoch
            if epoch > self.epoch:
                self.become_unattached(epoch)
                return True
            return False
        is_news = epoch > self.epoch
        if epoch == self.epoch and self.leader_id in (None, leader_id):  # more endpoints, or others if these fail
            is_news = len(endpoints) > len(self.leader_endpoints)
            is_news |= endpoints not in ((), self.leader_endpoints) and self.peers.is_resting(leader_id)
        if is_news and epoch == self.epoch and isinstance(self.state, Follower):
            self.leader_endpoints = endpoints
        elif is_news:
            self.become_follower(epoch, leader_id, endpoints)
        return is_news

    def absorb(self, response: messages.QuorumResponse) -> bool | None:
        """Handle what all responses have in common. None: go on. True: done. False: done, let the peer rest."""
        if response.leader_epoch < self.epoch or response.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH:
            return False
        is_newer = response.leader_epoch > self.epoch
        is_news = self.learn(response.leader_epoch, response.leader_id, response.leader_endpoints)
        return is_news if is_newer or response.error_code != ErrorCode.NONE else None

    def check_voter_key(self, key: ReplicaKey) -> ErrorCode:
        """A message for another voter, or another disk of this node, must not be answered in its name (KIP-853)."""
        is_here = key.id == -1 or is_same_replica(key, self.key)
        return ErrorCode.NONE if is_here else ErrorCode.INVALID_VOTER_KEY

    # -- Vote

    def on_vote_request(self, request: messages.VoteRequest, handle: Handle) -> None:
        """A candidate has raised its epoch above any record of its log; a prospective has not."""
        is_legal = 0 <= request.last_offset_epoch < request.replica_epoch + request.pre_vote
        error, is_granted = ErrorCode.NONE, False
        if not is_legal or request.last_offset < 0 or request.replica_key.id < 0:
            error = ErrorCode.INVALID_REQUEST
        elif request.replica_epoch < self.epoch:
            error = ErrorCode.FENCED_LEADER_EPOCH
        else:
            if request.replica_epoch > self.epoch:
                self.become_unattached(request.replica_epoch)
            error = self.check_voter_key(request.voter_key)
            is_granted = not error and self.may_grant(request)
            if is_granted and not request.pre_vote and self.voted_key is None:
                self.give_vote(request.replica_key)
        self.reply(handle, self.response(messages.VoteResponse, error, vote_granted=is_granted))

    def may_grant(self, request: messages.VoteRequest) -> bool:
        """Whether this replica would vote so, in the epoch of the request.

        The log is compared even if the candidate has the vote already: it may have crashed since it asked first, and
        come back without records that it had not flushed.
        """
        state = self.state
        if isinstance(state, Leader) or not self.is_up_to_date(request.last_offset_epoch, request.last_offset):
            return False
        if request.pre_vote:
            # An observer follows for ever, and may be a voter to others already: when it hears no leader, it grants.
            return not (isinstance(state, Follower) and state.has_fetched and self.now_ms < state.fetch_deadline_ms)
        if not isinstance(state, Unattached | Prospective):
            return False
        if self.voted_key is not None:
            return is_same_replica(self.voted_key, request.replica_key)
        return self.leader_id is None

    def is_up_to_date(self, last_epoch: int, end_offset: int) -> bool:
        """Whether another's log holds at least what this one does."""
        return (last_epoch, end_offset) >= (self.log.last_epoch, self.log.end_offset)

    def on_vote_response(self, source: NodeId, response: messages.VoteResponse) -> bool:
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION and isinstance(self.state, Prospective):
            self.become_candidate()
            return True
        handled = self.absorb(response)
        if handled is None and isinstance(self.state, Nominee):
            self.state.tally.record(source, is_granted=response.vote_granted)
            self.end_election(self.state)
        return handled is not False

    def end_election(self, state: Nominee) -> None:
        """Go forward if it is won. A candidate that lost waits for its timeout."""
        if state.tally.is_won and isinstance(state, Prospective):
            self.become_candidate()
        elif state.tally.is_won:
            self.become_leader(state.tally)
        elif state.tally.is_lost and isinstance(state, Prospective):
            self.end_pre_vote()

    def end_pre_vote(self) -> None:
        """The pre-vote was lost or timed out: back to the leader that was known, else look for one."""
        if self.leader_id is None:
            self.become_unattached(self.epoch)
        else:
            self.become_follower(self.epoch, self.leader_id, self.leader_endpoints)

    def ask_for_votes(self, state: Nominee) -> None:
        """Ask whoever has not answered, as long as there is hope."""
        end = self.log.last_epoch, self.log.end_offset
        pre_vote = isinstance(state, Prospective)
        for voter in state.tally.outstanding() if not state.tally.is_lost else ():
            request = messages.VoteRequest(voter.key, self.key, self.epoch, *end, pre_vote)
            self.send(voter.key.id, voter.endpoints, request)

    # -- BeginQuorumEpoch

    def announce_epoch(self, voter: Voter) -> None:
        """As leader, tell a voter that does not fetch who leads."""
        own = self.key.id, self.epoch, self.settings.endpoints
        self.send(voter.key.id, voter.endpoints, messages.BeginQuorumEpochRequest(voter.key, *own))

    def on_begin_request(self, request: messages.BeginQuorumEpochRequest, handle: Handle) -> None:
        error = self._check_leader(request)
        if not error:
            self.learn(request.leader_epoch, request.leader_id, request.leader_endpoints)
            error = self.check_voter_key(request.voter_key)
        self.reply(handle, self.response(messages.QuorumResponse, error))

    def _check_leader(self, request: messages.BeginQuorumEpochRequest | messages.EndQuorumEpochRequest) -> ErrorCode:
        """Only the leader of an epoch speaks for it."""
        if request.leader_epoch < self.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        is_other = request.leader_epoch == self.epoch and self.leader_id not in (None, request.leader_id)
        if is_other or request.leader_id < 0 or request.leader_id == self.key.id:
            return ErrorCode.INVALID_REQUEST
        return ErrorCode.NONE

    def on_begin_response(self, _source: NodeId, response: messages.QuorumResponse) -> bool:
        """Nothing to note: a voter that knows its leader fetches from it."""
        return self.absorb(response) is not False

    # -- EndQuorumEpoch

    def ask_for_successor(self, state: Resigned) -> None:
        """As resigned leader, ask the voters to elect another, each until it answers."""
        candidates, endpoints = state.preferred_candidates, self.settings.endpoints
        request = messages.EndQuorumEpochRequest(self.key.id, self.epoch, candidates, endpoints)
        for node_id in state.unacknowledged:
            self.send(node_id, self.history.voters.endpoints(node_id), request)

    def on_end_request(self, request: messages.EndQuorumEpochRequest, handle: Handle) -> None:
        error = self._check_leader(request)
        if not error:
            self.learn(request.leader_epoch, request.leader_id, request.leader_endpoints)
            if isinstance(self.state, Follower):
                self.state.has_fetched = False  # nothing more is to be hoped for: whoever stands gets the pre-vote
                self.state.fetch_deadline_ms = self.now_ms + self.successor_wait_ms(request.preferred_candidates)
        self.reply(handle, self.response(messages.QuorumResponse, error))

    def successor_wait_ms(self, preferred: tuple[ReplicaKey, ...]) -> int:
        """The preferred candidate starts at once, each after it waits twice as long, those not named longest."""
        longest_ms = self.settings.election_backoff_max_ms
        places = [place for place, key in enumerate(preferred) if is_same_replica(key, self.key)]
        place = places[0] if places else len(preferred)
        if place == 0:
            return 0
        return longest_ms if not places else (longest_ms >> (len(preferred) - 1)) << (place - 1)

    def on_end_response(self, source: NodeId, response: messages.QuorumResponse) -> bool:
        handled = self.absorb(response)
        if handled is None and isinstance(self.state, Resigned) and source in self.state.unacknowledged:
            self.state.unacknowledged.remove(source)
        return handled is not False
