"""Fetch: how records reach the replicas, and what is therefore committed (KIP-595)."""

from kafkish_raft import effects, messages
from kafkish_raft.events import AppendRequested, Handle, LogChanged
from kafkish_raft.messages import UNKNOWN_OFFSET, ErrorCode
from kafkish_raft.ports import BOOTSTRAP_SNAPSHOT, PREFIX, Located, OffsetAndEpoch, locate
from kafkish_raft.replica import ParkedFetch, Refusal
from kafkish_raft.snapshots import Snapshots
from kafkish_raft.states import Follower, Leader
from kafkish_raft.voters import NodeId


class Replication(Snapshots):
    def on_append_requested(self, event: AppendRequested) -> None:
        if self.leader is None or event.epoch != self.epoch:
            message = f"node {self.key.id} does not lead epoch {event.epoch}; it knows node {self.leader_id} as leader"
            self.reply(event.handle, Refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER, message).response)
        else:
            self.emit(effects.AppendBatch(self.log.end_offset, self.epoch, event.batch, event.handle))

    def on_log_changed(self, event: LogChanged) -> None:
        """A leader may send what it has not flushed; it only must not count itself."""
        self.history.add(event.controls)
        if self.leader:
            self.advance_commit(self.leader)
            self.release_fetches()
        elif isinstance(self.state, Follower) and self.state.has_fetched:
            self.state.note_contact(self.now_ms)  # while the disk was slow, the silence was this node's
            self.follow_high_watermark()

    # -- the leader's side

    def on_fetch_request(self, request: messages.FetchRequest, handle: Handle) -> None:
        """Note how far the replica is, and answer: with records, with where to go back to, or later."""
        is_legal = 0 <= request.last_fetched_epoch <= request.current_leader_epoch
        is_legal = is_legal and request.fetch_offset >= 0 and request.max_wait_ms >= 0
        error = self.check_leader_only(request.current_leader_epoch) if is_legal else ErrorCode.INVALID_REQUEST
        if error or self.leader is None:
            self.reply(handle, self.response(messages.FetchResponse, error))
            return
        located = self._locate(request)
        if located == PREFIX and request.replica_key.id not in (-1, self.key.id):
            self.leader.record_fetch(request.replica_key, request.fetch_offset, self.log.end_offset, self.now_ms)
            self.advance_commit(self.leader)
        if not self._answer_fetch(self.leader, request, handle, located, may_wait=request.max_wait_ms > 0):
            self.parked.append(ParkedFetch(request, handle, self.now_ms + request.max_wait_ms))

    def _locate(self, request: messages.FetchRequest) -> Located:
        """An empty replica is better served by a snapshot than by the log."""
        snapshot_id = self.log.latest_snapshot
        if request.fetch_offset == 0 and snapshot_id not in (None, BOOTSTRAP_SNAPSHOT):
            return Located(snapshot_id=snapshot_id)
        return locate(self.log, request.fetch_offset, request.last_fetched_epoch)

    def _answer_fetch(
        self, leader: Leader, request: messages.FetchRequest, handle: Handle, located: Located, *, may_wait: bool
    ) -> bool:
        """Answer, unless there is nothing to tell and it may wait."""
        high_watermark = self.high_watermark if leader.is_established else UNKNOWN_OFFSET
        is_behind = located == PREFIX and request.fetch_offset < self.log.end_offset
        has_news = is_behind or located != PREFIX or high_watermark > request.high_watermark
        if may_wait and not has_news and len(self.parked) < self.settings.max_observers:
            return False
        response = self.response(
            messages.FetchResponse,
            high_watermark=high_watermark,
            log_start_offset=self.log.start_offset,
            diverging_epoch=located.diverging_epoch,
            snapshot_id=located.snapshot_id,
            records=messages.ReadFrom(request.fetch_offset, request.max_bytes) if is_behind else b"",
        )
        self.reply(handle, response)
        return True

    def release_fetches(self) -> None:
        """Answer the waiting fetches for which there is news, or whose time is over."""
        leader, parked = self.leader, self.parked
        self.parked = []
        for fetch in parked if leader else ():
            may_wait = self.now_ms < fetch.deadline_ms
            if leader and not self._answer_fetch(leader, fetch.request, fetch.handle, PREFIX, may_wait=may_wait):
                self.parked.append(fetch)

    def advance_commit(self, leader: Leader) -> None:
        """Raise the high watermark to what a majority has flushed."""
        offset = self.committed_offset(leader)
        if offset is not None and (offset > self.high_watermark or not leader.is_established):
            leader.is_established = True
            self.raise_high_watermark(offset)
            self.on_change_committed(leader)
            self.release_fetches()

    def committed_offset(self, leader: Leader) -> int | None:
        """Records of older epochs are committed only together with one of this epoch (Raft, section 5.4.2)."""
        offset = leader.committed_offset(self.log.flushed_offset)
        return offset if offset > leader.epoch_start_offset else None

    # -- the follower's side

    def is_ready_to_fetch(self) -> bool:
        """A fetch tells the leader that all below its offset is safe here, so it waits for the flush."""
        is_flushed = self.log.flushed_offset >= self.log.end_offset
        return is_flushed and not self.is_log_changing and not self.is_installing

    def fetch(self, follower: Follower) -> None:
        """Fetch from the leader or, while it does not answer, ask around whether there is another."""
        if self.leader_id is None or not self.is_ready_to_fetch():
            return
        if self.peers.is_resting(self.leader_id):
            self.ask_for_leader()
        elif not self.peers.any_under_way():
            request: messages.Request = self._fetch_request()
            if follower.download is not None:
                place = follower.download, follower.download_position, self.settings.fetch_snapshot_max_bytes
                request = messages.FetchSnapshotRequest(self.key, self.epoch, *place)
            self.send(self.leader_id, self.leader_endpoints, request)

    def ask_for_leader(self) -> None:
        """Send a fetch to any node that may know: whoever does not lead tells who does."""
        server = self.peers.server_to_ask(self.now_ms) if self.is_ready_to_fetch() else None
        if server is not None:
            self.send(*server, self._fetch_request())

    def _fetch_request(self) -> messages.FetchRequest:
        end = self.log.end_offset, self.log.last_epoch
        settings = self.settings
        limits = settings.fetch_max_wait_ms, settings.fetch_max_bytes
        return messages.FetchRequest(self.key, self.epoch, *end, self.high_watermark, *limits)

    def on_fetch_response(self, _source: NodeId, response: messages.FetchResponse) -> bool:
        """Take what the leader sent."""
        handled = self.absorb(response)
        follower = self.state
        if handled is not None or not isinstance(follower, Follower):
            return handled is not False
        if response.diverging_epoch is not None:
            self._truncate(response.diverging_epoch)
        elif response.snapshot_id is not None:
            self.refuse_loss(response.snapshot_id.offset)
            follower.download, follower.download_position = response.snapshot_id, 0
        else:
            if len(response.records):
                self.is_log_changing = True
                self.emit(effects.AppendFetched(self.epoch, response.records))
            follower.leader_high_watermark = response.high_watermark  # it is about this log only if that is a prefix
            self.follow_high_watermark()
        follower.note_contact(self.now_ms)
        return True

    def _truncate(self, diverging: OffsetAndEpoch) -> None:
        """Remove what the leader does not have: there it ends `diverging.epoch`, the largest that both may share."""
        own = self.log.end_offset_for_epoch(diverging.epoch)
        end_offset = min(own.offset, diverging.offset) if own.epoch == diverging.epoch else own.offset
        self.refuse_loss(end_offset)
        self.is_log_changing = True
        self.emit(effects.Truncate(end_offset))
        self.history.truncate(end_offset)

    def follow_high_watermark(self) -> None:
        """The leader's high watermark, as far as this log reaches."""
        if isinstance(self.state, Follower) and not self.is_log_changing:
            self.raise_high_watermark(min(self.state.leader_high_watermark, self.log.end_offset))
