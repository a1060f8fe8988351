"""Snapshots: made here, served to others, fetched from the leader (KIP-630)."""

from kafkish_raft import effects, messages
from kafkish_raft.events import Handle, SnapshotInstalled
from kafkish_raft.membership import Membership
from kafkish_raft.messages import ErrorCode
from kafkish_raft.ports import BOOTSTRAP_SNAPSHOT, PREFIX, OffsetAndEpoch, locate
from kafkish_raft.replica import UnsafeError
from kafkish_raft.states import Follower
from kafkish_raft.voters import NodeId, VoterSet


class Snapshots(Membership):
    def snapshot_header(self, snapshot_id: OffsetAndEpoch) -> tuple[int, VoterSet | None]:
        """The kraft.version and the voter set, if any, with which a snapshot at this place must open.

        ValueError if none can be made there. Once the snapshot is on disk, the log before its end, and older
        snapshots, may be deleted.
        """
        log, (offset, epoch) = self.log, snapshot_id
        if offset > self.high_watermark:
            raise ValueError(f"no snapshot at {snapshot_id}: it is above the high watermark {self.high_watermark}")
        if offset <= max(log.start_offset, (log.latest_snapshot or BOOTSTRAP_SNAPSHOT).offset):
            raise ValueError(f"no snapshot at {snapshot_id}: it is not above the latest, {log.latest_snapshot}")
        if log.end_offset_for_epoch(epoch - 1).offset >= offset or locate(log, offset, epoch) != PREFIX:
            raise ValueError(f"no snapshot at {snapshot_id}: the log has another epoch there")
        return self.history.at(offset)

    # -- served to others

    def on_fetch_snapshot_request(self, request: messages.FetchSnapshotRequest, handle: Handle) -> None:
        error = self.check_leader_only(request.current_leader_epoch)
        size = self.log.snapshot_size_bytes(request.snapshot_id)
        if not error and (size is None or request.snapshot_id == BOOTSTRAP_SNAPSHOT):
            error = ErrorCode.SNAPSHOT_NOT_FOUND
        elif not error and not 0 <= request.position < (size or 0):
            error = ErrorCode.POSITION_OUT_OF_RANGE
        if error or self.leader is None:
            self.reply(handle, self.response(messages.FetchSnapshotResponse, error))
            return
        self.leader.record_contact(request.replica_key, self.now_ms)
        response = self.response(
            messages.FetchSnapshotResponse,
            snapshot_id=request.snapshot_id,
            size_bytes=size,
            position=request.position,
            unaligned_records=messages.ReadFrom(request.position, request.max_bytes),
        )
        self.reply(handle, response)

    # -- fetched from the leader

    def refuse_loss(self, end_offset: int) -> None:
        """Whatever a leader asks for, what is committed stays."""
        if end_offset < self.high_watermark:
            raise UnsafeError(
                f"node {self.leader_id}, leader of epoch {self.epoch}, asks node {self.key.id} to go back to offset "
                f"{end_offset}, but records below {self.high_watermark} are committed. One of the two has lost data. "
                "Compare their metadata logs before starting either again."
            )

    def on_fetch_snapshot_response(self, _source: NodeId, response: messages.FetchSnapshotResponse) -> bool:
        follower = self.state
        is_gone = response.error_code in (ErrorCode.SNAPSHOT_NOT_FOUND, ErrorCode.POSITION_OUT_OF_RANGE)
        handled = None if is_gone and response.leader_epoch == self.epoch else self.absorb(response)
        if handled is not None or not isinstance(follower, Follower) or follower.download is None:
            return handled is not False
        follower.note_contact(self.now_ms)
        if is_gone:
            follower.download = None  # the leader has deleted it: begin again with a fetch
            return True
        snapshot_id, position, data = follower.download, follower.download_position, response.unaligned_records
        if (response.snapshot_id, response.position) != (snapshot_id, position):
            return False
        self.emit(effects.WriteSnapshotChunk(snapshot_id, position, data))
        follower.download_position += len(data)
        if follower.download_position >= response.size_bytes:
            follower.download = None
            self.is_installing = True
            self.emit(effects.InstallSnapshot(snapshot_id))
        return True

    def on_snapshot_installed(self, event: SnapshotInstalled) -> None:
        self.is_installing = False
        self.history.replace(event.controls)
        self.raise_high_watermark(event.snapshot_id.offset)
