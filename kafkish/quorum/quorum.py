"""Drives the state machine: events in, effects out, each carried out in its order before the next event.

Steps and deliveries are kept apart. A step changes log and vote and is never interrupted. What others are told - a new
leader, a new image, an answer - is delivered after it; whoever is told may append or ask at once, and that is another
step. The first effect that can not be carried out stops the node for good.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, cast

from kafkish.deferred import Deferred
from kafkish.metadata.changes import Update
from kafkish.metadata.image import MetadataImage
from kafkish.quorum.follower import MetadataFollower
from kafkish.quorum.metadata_log import MetadataLog
from kafkish.quorum.ports import Clock, Dice, Executor, PeerChannel
from kafkish.quorum.telling import tell
from kafkish.quorum.vote_file import VoteFile
from kafkish.timers import Timer, Timers
from kafkish_protocol.records import Batch
from kafkish_raft import effects, events
from kafkish_raft.messages import FetchResponse, FetchSnapshotResponse, ReadFrom, Request, Response
from kafkish_raft.ports import ElectionState, OffsetAndEpoch, Settings
from kafkish_raft.raft import Raft
from kafkish_raft.states import Follower
from kafkish_raft.voters import NodeId

_log: Final = logging.getLogger(__name__)


_AFTER_THE_STEP: Final = (effects.PersistElection, effects.HighWatermark, effects.LeaderChanged)
"""Effects that nobody sees before the step is over. A vote that is replaced in the same step need not be written."""


class QuorumFailedError(Exception):
    """The node can not take part in the quorum any more; the text says why."""


@dataclass(slots=True)
class _Append:
    """A batch on its way into the log."""

    is_done: bool = False


class Quorum:
    """This node's part of the metadata quorum. Owner's thread."""

    def __init__(
        self,
        settings: Settings,
        log: MetadataLog,
        votes: VoteFile,
        *,
        clock: Clock,
        timers: Timers,
        executor: Executor,
        dice: Dice,
        peers: PeerChannel | None = None,
    ) -> None:
        self.settings = settings
        self.log = log
        self.follower = MetadataFollower(log, timers)
        self.failure: str | None = None
        self.on_leader_changed: list[Callable[[effects.LeaderChanged], object]] = []
        self.on_failure: list[Callable[[str], object]] = []
        self.on_closed: list[Callable[[], object]] = []
        self.raft = Raft(settings, log, votes, dice.randrange)
        self.clock = clock
        self.timers = timers
        self.executor = executor
        self.dice = dice
        self._votes = votes
        self._peers = peers
        self._events: deque[events.Event] = deque()
        self._deliveries: deque[Callable[[], object]] = deque()
        self._is_stepping = self._is_delivering = self._is_closing = False
        self._timer: Timer | None = None
        self._timer_ms = 0
        self._stopping: Deferred[None] | None = None
        self._unwritten_vote: ElectionState | None = None
        self._carry_out: dict[type, Callable[..., object]] = {
            effects.PersistElection: self._note_vote,
            effects.AppendControl: self._append_control,
            effects.AppendBatch: self._append_batch,
            effects.AppendFetched: self._append_fetched,
            effects.Truncate: self._truncate,
            effects.WriteSnapshotChunk: log.write_chunk,
            effects.InstallSnapshot: self._install,
            effects.Send: self._send,
            effects.Reply: self._reply,
            effects.HighWatermark: self._on_high_watermark,
            effects.LeaderChanged: self._on_leader_changed,
        }
        log.on_flushed = self._flushed
        self.follower.on_failure = self.fail
        self.follower.knows_committed = self._knows_committed

    # -- for others

    @property
    def image(self) -> MetadataImage:
        """What is committed and replayed."""
        return self.follower.image

    @property
    def epoch(self) -> int:
        return self.raft.epoch

    @property
    def leader_id(self) -> NodeId | None:
        return self.raft.leader_id

    @property
    def is_closing(self) -> bool:
        """Whether the log is closed, or about to be."""
        return self._is_closing

    def subscribe(self, listener: Callable[[Update], object]) -> None:
        """Tell of every image in order, once the first is known."""
        self.follower.subscribe(listener)

    def start(self) -> None:
        """Come back to where this node was, and take part."""
        self._feed(events.Start(self.log.controls()))

    def append(self, batches: Sequence[Batch], epoch: int) -> bool:
        """As leader of `epoch`: put these at the end of the log, with nothing between them. False if another leads.

        They are committed when they were applied: see `follower.on_applied`.
        """
        handles = [_Append() for _ in batches]
        wanted = [events.AppendRequested(batch, epoch, handle) for batch, handle in zip(batches, handles, strict=True)]
        self._feed(*wanted)
        return all(handle.is_done for handle in handles)

    def ask(self, request: Request) -> Deferred[Response]:
        """A request of a peer, of an administrator or of the local controller."""
        answer: Deferred[Response] = Deferred()
        if self.failure is not None:
            answer.fail(QuorumFailedError(self.failure))
        else:
            self._feed(events.RequestReceived(request, answer))
        return answer

    def answered(self, source: NodeId, correlation_id: int, response: Response | None) -> None:
        """The answer to what a peer was sent; None if there will be none."""
        self._feed(events.ResponseReceived(source, correlation_id, response))

    def resign(self, epoch: int) -> None:
        """Give up the leadership of this epoch."""
        self._feed(events.ResignRequested(epoch))

    def stop(self) -> Deferred[None]:
        """Hand over, make everything durable, close the log."""
        if self._stopping is None:
            self._stopping = Deferred()
            self._feed(events.ShutdownRequested())
            if self.failure is not None:
                self._stopped()
        return self._stopping

    def fail(self, error: Exception) -> None:
        """Stop for good: what follows must not happen."""
        if self.failure is None:
            self.failure = f"node {self.settings.key.id} can not take part in the metadata quorum any more: {error}"
            _log.critical("%s", self.failure, exc_info=error)
            self._events.clear()
            self._deliveries.clear()
            if self._timer is not None:
                self._timer.cancel()
            for listener in list(self.on_failure):
                tell(listener, self.failure)
            self._stopped()

    def _stopped(self) -> None:
        if self._stopping is not None and not self._stopping.is_done:
            for listener in self.on_closed:
                tell(listener)
            tell(self._stopping.resolve, None)

    # -- events

    def _feed(self, *wanted: events.Event) -> None:
        if self.failure is not None:
            return
        self._events.extend(wanted)
        if not self._is_stepping:
            self._is_stepping = True
            self._guard(self._step_all)
            self._is_stepping = False
        if not self._is_delivering:
            self._is_delivering = True
            self._guard(self._deliver_all)
            self._is_delivering = False

    def _guard(self, action: Callable[[], object]) -> None:
        if self.failure is None:
            try:
                action()
            except Exception as error:  # whatever it is: an effect was not carried out, and none may follow
                self.fail(error)

    def _step_all(self) -> None:
        while self._events:
            for effect in self.raft.step(self._events.popleft(), self.clock.monotonic_ms()):
                if type(effect) not in _AFTER_THE_STEP:
                    self._write_vote()
                self._carry_out[type(effect)](effect)
            self._write_vote()
        if not self._is_closing:
            self.log.flush()
            self._set_timer()

    def _deliver_all(self) -> None:
        while self._deliveries:
            self._deliveries.popleft()()
        self.follower.publish_first()
        self._stop_if_done()

    def _knows_committed(self) -> bool:
        """A high watermark from before a restart does not count: more may have been committed since."""
        raft = self.raft
        if raft.leader is not None:
            return raft.leader.is_established
        known = raft.state.leader_high_watermark if isinstance(raft.state, Follower) else 0
        return 0 < known <= raft.high_watermark

    def _set_timer(self) -> None:
        """One timer for the next deadline. It may fire early, and then is set again."""
        deadline_ms = self.raft.next_deadline_ms
        if deadline_ms is None or (self._timer is not None and self._timer_ms <= deadline_ms):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = deadline_ms
        self._timer = self.timers.call_later(max(0, deadline_ms - self.clock.monotonic_ms()), self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._feed(events.Tick())

    def _stop_if_done(self) -> None:
        """Close the log when this node is not needed any more and nothing is being written."""
        if self._stopping is None or self._is_closing or not self.raft.may_stop or self.log.is_flushing:
            return
        self._is_closing = True
        if self._timer is not None:
            self._timer.cancel()
        self.executor.submit(self.log.log.close, self._closed)

    def _closed(self, error: Exception | None) -> None:
        if error is not None:
            self.fail(error)
        self._stopped()

    # -- effects

    def _note_vote(self, effect: effects.PersistElection) -> None:
        self._unwritten_vote = effect.election

    def _write_vote(self) -> None:
        """Before anything that another could learn of it. Blocks: an election waits for the disk, and it is rare."""
        election, self._unwritten_vote = self._unwritten_vote, None
        if election is not None:
            self._votes.write(election)

    def _append_control(self, effect: effects.AppendControl) -> None:
        self.log.append_control(effect)
        self._events.appendleft(events.LogChanged())

    def _append_batch(self, effect: effects.AppendBatch) -> None:
        self.log.append_batch(cast("Batch", effect.batch), effect.base_offset, effect.epoch)
        cast("_Append", effect.handle).is_done = True
        self._events.appendleft(events.LogChanged())

    def _append_fetched(self, effect: effects.AppendFetched) -> None:
        self._events.appendleft(events.LogChanged(self.log.append_fetched(effect)))

    def _truncate(self, effect: effects.Truncate) -> None:
        self.log.truncate(effect.end_offset)
        self._events.appendleft(events.LogChanged())

    def _install(self, effect: effects.InstallSnapshot) -> None:
        snapshot_id = effect.snapshot_id
        controls = self.log.install(snapshot_id).controls(snapshot_id.offset - 1)
        self._events.append(events.SnapshotInstalled(snapshot_id, tuple(controls)))

    def _send(self, effect: effects.Send) -> None:
        if self._peers is None:
            raise RuntimeError(f"node {effect.destination} is to be asked, and this node has no channel to other nodes")
        self._peers.send(effect)

    def _reply(self, effect: effects.Reply) -> None:
        if isinstance(effect.handle, Deferred):
            response = self._with_records(effect.response)
            self._deliveries.append(partial(tell, effect.handle.resolve, response))

    def _with_records(self, response: Response) -> Response:
        """Put the bytes in the place of where they are."""
        if isinstance(response, FetchResponse) and isinstance(response.records, ReadFrom):
            offset, max_bytes = response.records
            return replace(response, records=self.log.read_bytes(offset, self.log.end_offset, max_bytes))
        if isinstance(response, FetchSnapshotResponse) and isinstance(response.unaligned_records, ReadFrom):
            snapshot_id, place = cast("OffsetAndEpoch", response.snapshot_id), response.unaligned_records
            return replace(response, unaligned_records=self.log.snapshots.read_bytes(snapshot_id, *place))
        return response

    def _on_high_watermark(self, effect: effects.HighWatermark) -> None:
        self.log.log.update_high_watermark(effect.offset)
        self._deliveries.append(partial(self.follower.advance, effect.offset))

    def _on_leader_changed(self, effect: effects.LeaderChanged) -> None:
        for told in self.on_leader_changed:
            self._deliveries.append(partial(told, effect))

    def _flushed(self, error: Exception | None) -> None:
        if error is not None:
            self.fail(error)
        elif self.failure is None:
            self._feed(events.LogChanged())
