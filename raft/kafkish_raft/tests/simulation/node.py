"""A node of the simulation: the driver of one `Raft`, as an adapter would be, on a disk that can fail."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkish_raft import effects, events, messages
from kafkish_raft.ports import OffsetAndEpoch, Settings
from kafkish_raft.raft import Raft
from kafkish_raft.states import Candidate
from kafkish_raft.tests.simulation.disk import Disk, Entry, Snapshot
from kafkish_raft.voters import Control, Endpoint, NodeId, ReplicaKey

if TYPE_CHECKING:
    from kafkish_raft.tests.simulation.world import World

EMPTY_DIGEST = 1
_LOG_CHANGES = (effects.AppendControl, effects.AppendBatch, effects.AppendFetched, effects.Truncate)


def extend_digest(digest: int, entry: Entry) -> int:
    return (digest * 1_000_003 + entry.uid) & 0xFFFF_FFFF_FFFF


class PowerFailure(Exception):
    """The node died between two effects."""


@dataclass(slots=True)
class RpcHandle:
    """A request on its way: who asked, in which life, and what."""

    source: NodeId
    incarnation: int
    destination: NodeId
    correlation_id: int
    request: messages.Request


class AdminHandle(NamedTuple):
    """A request of the administrator, who sits at the node."""

    what: str


class Node:
    """Carries out effects. What the checker must see, it is shown on the way."""

    def __init__(self, world: "World", node_id: NodeId, disk: Disk, settings: dict[str, Any]) -> None:
        self.world = world
        self.id = node_id
        self.disk = disk
        self.settings = settings
        self.incarnation = 0
        self.raft: Raft | None = None
        self.clock_offset_ms = 0
        self.paused_until_ms = 0
        self.flush_ms = (1, 5)
        self.port = node_id
        self.applied_offset = 0
        self.digest = EMPTY_DIGEST
        self.is_leading = False
        self.dies_after: int | None = None
        """Fail after this many more effects."""
        self.dies_as_candidate = False
        """Fail at the next election, as it asks for votes or gets the first."""
        self._tick_ms: int | None = None
        self._is_flushing = False
        self._log_controls: list[Control] = []
        self._downloads: dict[OffsetAndEpoch, bytearray] = {}
        self._carry_out: dict[type, Callable[[Any], None]] = {
            effects.PersistElection: self._persist,
            effects.AppendControl: self._append_control,
            effects.AppendBatch: self._append_batch,
            effects.AppendFetched: self._append_fetched,
            effects.Truncate: self._truncate,
            effects.WriteSnapshotChunk: self._write_chunk,
            effects.InstallSnapshot: self._install,
            effects.Send: self._send,
            effects.Reply: self._reply,
            effects.HighWatermark: self._apply,
            effects.LeaderChanged: self._leader_changed,
        }

    def __repr__(self) -> str:
        return f"n{self.id}"

    @property
    def key(self) -> ReplicaKey:
        return ReplicaKey(self.id, self.disk.directory_id)

    @property
    def is_up(self) -> bool:
        return self.raft is not None

    @property
    def now_ms(self) -> int:
        return self.world.now_ms + self.clock_offset_ms

    # -- life and death

    def start(self) -> None:
        """Open the disk and begin."""
        self.incarnation += 1
        endpoints = (Endpoint("CONTROLLER", f"node-{self.id}", self.port),)
        settings = Settings(key=self.key, endpoints=endpoints, **self.settings)
        self.raft = Raft(settings, self.disk, self.disk, self.world.dice)
        latest = self.disk.snapshots[-1] if self.disk.snapshots else None
        self.applied_offset = latest.snapshot_id.offset if latest else 0
        self.digest = latest.digest if latest else EMPTY_DIGEST
        self._downloads.clear()
        self._tick_ms, self._is_flushing = None, False
        self.is_leading = False
        self.world.checker.started(self)
        self.step(events.Start(self.disk.controls()))
        self.world.checker.knows_voters(self)

    def crash(self) -> None:
        """Power fails: what was not flushed is lost, or a part of it."""
        unflushed = self.disk.end_offset - self.disk.flushed_offset
        self.disk.lose_power(self.world.dice(unflushed + 1) if unflushed else 0)
        self.raft, self.dies_after, self.dies_as_candidate = None, None, False
        self.world.note(self, "dies", f"log ends at {self.disk.end_offset}")
        self.world.on_death(self)

    # -- steps

    def step(self, event: events.Event) -> None:
        """Step, carry out, step again if the log changed, and let the checker look."""
        world, raft = self.world, self.raft
        if raft is None:
            return
        world.steps += 1
        try:
            wanted = raft.step(event, self.now_ms)
            if world.is_traced:
                world.note_step(self, event, wanted)
            if self.dies_as_candidate and isinstance(raft.state, Candidate):
                self.dies_after, self.dies_as_candidate = max(0, len(wanted) - world.dice(4)), False
            self._log_controls, is_log_changed = [], False
            for effect in wanted:
                self._live_on()
                self._carry_out[type(effect)](effect)
                is_log_changed = is_log_changed or isinstance(effect, _LOG_CHANGES)
            if is_log_changed:
                self._live_on()
                world.checker.after(self)
                self.step(events.LogChanged(tuple(self._log_controls)))
                return
        except PowerFailure:
            self.crash()
            world.checker.crashed(self)
            return
        world.checker.after(self)
        self._begin_flush()
        self._set_timer()

    def _live_on(self) -> None:
        if self.dies_after is not None:
            self.dies_after -= 1
            if self.dies_after < 0:
                raise PowerFailure

    def _set_timer(self) -> None:
        deadline_ms = self.raft.next_deadline_ms if self.raft else None
        if deadline_ms is None:
            return
        at_ms = max(self.world.now_ms + 1, deadline_ms - self.clock_offset_ms)
        if self._tick_ms is None or at_ms < self._tick_ms or self._tick_ms <= self.world.now_ms:
            self._tick_ms = at_ms
            self.world.at(at_ms, self._tick, (self.incarnation, at_ms), self)

    def _tick(self, incarnation: int, at_ms: int) -> None:
        if incarnation == self.incarnation and at_ms == self._tick_ms and self.raft is not None:
            self._tick_ms = None
            deadline_ms = self.raft.next_deadline_ms
            if deadline_ms is not None and deadline_ms <= self.now_ms:
                self.step(events.Tick())
            else:
                self._set_timer()

    def wake(self, incarnation: int, event: events.Event) -> None:
        """Something for this life of the node happens; a paused node sees it when it wakes."""
        if incarnation == self.incarnation and self.raft is not None:
            self.step(event)

    # -- disk

    def _begin_flush(self) -> None:
        if self._is_flushing or self.disk.flushed_offset >= self.disk.end_offset or self.raft is None:
            return
        self._is_flushing = True
        target = (self.incarnation, self.disk.flush_generation, self.disk.end_offset)
        self.world.after(self.world.dice.between(*self.flush_ms), self._flushed, target, self)

    def _flushed(self, incarnation: int, generation: int, end_offset: int) -> None:
        if incarnation != self.incarnation or self.raft is None:
            return
        self._is_flushing = False
        if generation == self.disk.flush_generation:
            self.disk.flushed_offset = max(self.disk.flushed_offset, end_offset)
        self.step(events.LogChanged())

    def _persist(self, effect: effects.PersistElection) -> None:
        self.world.checker.persisting(self, effect.election)
        self.disk.election = effect.election

    def _append(self, entry: Entry) -> None:
        if entry.control is not None:
            self._log_controls.append(Control(self.disk.end_offset, entry.control))
        self.world.checker.appending(self, self.disk.end_offset, entry)
        self.disk.append(entry)

    def _append_control(self, effect: effects.AppendControl) -> None:
        assert effect.base_offset == self.disk.end_offset
        for record in effect.records:
            self._append(Entry(effect.epoch, self.world.new_uid(), record))

    def _append_batch(self, effect: effects.AppendBatch) -> None:
        assert effect.base_offset == self.disk.end_offset
        self._append(Entry(effect.epoch, self.world.new_uid()))
        self.world.proposals += 1

    def _append_fetched(self, effect: effects.AppendFetched) -> None:
        batch = effect.records
        assert isinstance(batch, Fetched)
        if batch.base_offset == self.disk.end_offset:
            for entry in batch.entries:
                if entry.epoch <= effect.epoch:
                    self._append(entry)

    def _truncate(self, effect: effects.Truncate) -> None:
        self.world.checker.truncating(self, effect.end_offset)
        self.disk.truncate(effect.end_offset)
        self.world.checker.knows_voters(self)

    def make_snapshot(self, *, is_trimmed: bool, is_hasty: bool = False) -> None:
        """At what is applied or, in haste, at the log's end, if the core agrees; then perhaps delete the log behind."""
        offset = self.disk.end_offset if is_hasty else self.applied_offset
        if self.raft is None or offset <= self.disk.start_offset:
            return
        place = OffsetAndEpoch(offset, self.disk.entry(offset - 1).epoch)
        try:
            version, voters = self.raft.snapshot_header(place)
        except ValueError:
            return
        digest = reduce(extend_digest, map(self.disk.entry, range(self.applied_offset, offset)), self.digest)
        data = self.world.new_uid().to_bytes(8, "big") * self.world.dice.between(1, 30)
        snapshot = Snapshot(place, digest, version, voters, data)
        self.world.checker.snapshotting(self, snapshot)
        self.world.contents[data[:8]] = snapshot
        self.disk.snapshots.append(snapshot)
        if is_trimmed:
            self.disk.trim(place.offset)
        self.world.note(self, "snapshot", f"at {place.offset}@{place.epoch}, log starts at {self.disk.start_offset}")

    def _write_chunk(self, effect: effects.WriteSnapshotChunk) -> None:
        data = effect.data
        assert isinstance(data, bytes)
        if effect.position == 0:
            self._downloads[effect.snapshot_id] = bytearray()
        download = self._downloads[effect.snapshot_id]
        assert len(download) == effect.position
        download.extend(data)

    def _install(self, effect: effects.InstallSnapshot) -> None:
        self.world.checker.installing(self, effect.snapshot_id)
        target = (self.incarnation, effect.snapshot_id)
        self.world.after(self.world.dice.between(*self.flush_ms), self._installed, target, self)

    def _installed(self, incarnation: int, snapshot_id: OffsetAndEpoch) -> None:
        if incarnation != self.incarnation or self.raft is None:
            return
        data = bytes(self._downloads.pop(snapshot_id))
        snapshot = self.world.contents[data[:8]]
        assert data == snapshot.data
        assert snapshot.snapshot_id == snapshot_id
        self.world.checker.installing(self, snapshot_id)
        self.disk.install(snapshot)
        self.applied_offset, self.digest = snapshot_id.offset, snapshot.digest
        self.step(events.SnapshotInstalled(snapshot_id, snapshot.controls()))
        self.world.checker.knows_voters(self)

    # -- the others

    def _send(self, effect: effects.Send) -> None:
        self.world.checker.sending(self, effect.request)
        handle = RpcHandle(self.id, self.incarnation, effect.destination, effect.correlation_id, effect.request)
        self.world.network.request(self, effect.endpoints[0], handle)

    def _reply(self, effect: effects.Reply) -> None:
        handle, response = effect.handle, effect.response
        if isinstance(handle, AdminHandle):
            self.world.answered(handle, response)
            return
        assert isinstance(handle, RpcHandle)
        self.world.checker.replying(self, handle.request, response)
        self.world.network.response(self, handle, self._filled(response))

    def _filled(self, response: messages.Response) -> messages.Response:
        """Put data where the core said only where to read it."""
        if isinstance(response, messages.FetchResponse) and isinstance(response.records, messages.ReadFrom):
            first = response.records.position
            index = first - self.disk.start_offset
            entries = tuple(self.disk.entries[index : index + self.world.dice.between(1, self.world.fetch_size)])
            return replace(response, records=Fetched(first, entries))
        if isinstance(response, messages.FetchSnapshotResponse) and response.snapshot_id:
            snapshot = self.disk.snapshot(response.snapshot_id)
            place = response.unaligned_records
            assert snapshot
            assert isinstance(place, messages.ReadFrom)
            return replace(response, unaligned_records=snapshot.data[place.position : place.position + place.max_bytes])
        return response

    # -- the state machine

    def _apply(self, effect: effects.HighWatermark) -> None:
        """Applies as far as the log reaches: what a snapshot held is applied already."""
        self.world.checker.committing(self, effect.offset)
        for offset in range(self.applied_offset, effect.offset):
            self.digest = extend_digest(self.digest, self.disk.entry(offset))
        self.applied_offset = max(self.applied_offset, effect.offset)
        self.world.checker.applied(self)

    def _leader_changed(self, effect: effects.LeaderChanged) -> None:
        self.is_leading = effect.start_offset is not None
        if self.is_leading:
            self.world.checker.elected(self, effect.epoch)


class Fetched:
    """Records on their way to a follower."""

    __slots__ = ("base_offset", "entries")

    def __init__(self, base_offset: int, entries: tuple[Entry, ...]) -> None:
        self.base_offset = base_offset
        self.entries = entries

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"[{self.base_offset}, {self.base_offset + len(self.entries)})"
