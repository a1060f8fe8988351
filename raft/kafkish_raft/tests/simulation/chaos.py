"""One run: a quorum is founded, suffers for a thousand events, is healed, and must then agree and go on."""

from dataclasses import dataclass

from kafkish_raft import events, messages
from kafkish_raft.replica import UnsafeError
from kafkish_raft.states import Candidate, Follower, Leader
from kafkish_raft.tests.simulation import checker as invariants
from kafkish_raft.tests.simulation.checker import Violation
from kafkish_raft.tests.simulation.disk import Disk
from kafkish_raft.tests.simulation.node import Node
from kafkish_raft.tests.simulation.trace import key, voter_set
from kafkish_raft.tests.simulation.world import World
from kafkish_raft.voters import DYNAMIC, NO_DIRECTORY, NO_VOTERS, Endpoint, NodeId, ReplicaKey, Voter, Voters, VoterSet

SUFFERING_STEPS = 1_000
SUFFERING_MS = 4_000
RECOVERY_MS = 30_000
"""In simulated time: sixty fetch timeouts."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a seed ended."""

    seed: int
    steps: int
    simulated_ms: int
    committed: int
    epochs: int
    violation: Violation | None
    trace: list[str]


def run(seed: int, *, is_traced: bool = False) -> Outcome:
    """The same seed always runs the same way."""
    chaos = Chaos(seed, is_traced=is_traced)
    violation = None
    try:
        chaos.run()
    except Violation as error:
        violation = error
    except (UnsafeError, AssertionError, LookupError, ValueError, TypeError, AttributeError) as error:
        name = invariants.COMMITTED_STAYS if isinstance(error, UnsafeError) else invariants.NO_ACCIDENT
        violation = Violation(name, repr(error))
        violation.__cause__ = error
    world = chaos.world
    epochs = max(world.checker.leaders, default=0)
    return Outcome(seed, world.steps, world.now_ms, len(world.checker.committed), epochs, violation, world.trace)


class Chaos:
    """Which faults a run knows, and how often, is itself a matter of dice: some bugs show only when little happens."""

    def __init__(self, seed: int, *, is_traced: bool = False) -> None:
        self.world = World(seed, is_traced=is_traced)
        dice = self.dice = self.world.dice
        self.is_dynamic = dice.chance(700)
        self.is_auto_joined = self.is_dynamic and dice.chance(300)
        self.is_upgraded_at_last = not self.is_dynamic and dice.chance(300)
        settings = {"auto_join": self.is_auto_joined, "fetch_snapshot_max_bytes": dice.choose((4, 64))}
        self.world.found(dice.between(1, 7), dice.between(0, 5), is_dynamic=self.is_dynamic, **settings)
        self.world.fetch_size = dice.choose((1, 3, 12))
        self.pace_ms = dice.choose((60, 200, 500))
        self.load_ms = dice.choose((20, 100, 400))
        faults = [
            self._cut_off,
            self._cut_one_way,
            self._bad_network,
            self._crash,
            self._crash,
            self._ambush,
            self._pause,
            self._jump,
            self._slow_disk,
            self._snapshot,
            self._resign,
            self._stop_gently,
        ]
        faults += [self._change_voters, self._change_voters, self._wipe] if self.is_dynamic else [self._upgrade]
        share = dice.choose((200, 650, 650))
        self.faults = [fault for fault in faults if dice.chance(share)] or [self._crash]
        self._moved: Node | None = None
        self._pulls = dice(4)
        self.static_voters = self.world.nodes[1].settings.get("static_voters", VoterSet())
        self.is_suffering = True
        self.world.on_death = self._died

    def run(self) -> None:
        world = self.world
        for node in world.nodes.values():
            world.after(self.dice(20), node.start)
        world.after(self.load_ms, self._load)
        world.after(self.pace_ms, self._next_fault)
        while world.steps < SUFFERING_STEPS or world.now_ms < SUFFERING_MS:
            world.run_one()
        self.is_suffering = False
        self._heal()

    # -- load

    def _load(self) -> None:
        """A client proposes to whoever believes to lead."""
        leaders = self.world.leaders()
        if leaders:
            self.world.propose(self.dice.choose(leaders))
        if self.is_suffering:
            self.world.after(1 + self.dice(2 * self.load_ms), self._load)

    # -- faults

    def _next_fault(self) -> None:
        if self.is_suffering:
            self.dice.choose(self.faults)()
            self.world.after(1 + self.dice(2 * self.pace_ms), self._next_fault)

    def _any(self) -> Node:
        """Leaders, and those who want to be, attract misfortune."""
        nodes = list(self.world.nodes.values())
        ambitious = [node for node in nodes if node.raft and isinstance(node.raft.state, Leader | Candidate)]
        return self.dice.choose(ambitious if ambitious and self.dice.chance(400) else nodes)

    def _for_a_while(self) -> int:
        return self.dice.choose((20, 200, 800, 2_000))

    def _cut_off(self) -> None:
        """Two groups of nodes no longer hear each other."""
        ids = list(self.world.nodes)
        group = set(self.dice.sample(ids, self.dice(len(ids) // 2 + 1)))
        pairs = {(a, b) for a in ids for b in ids if (a in group) != (b in group)}
        self._cut(pairs, f"{sorted(group)} from the others")

    def _cut_one_way(self) -> None:
        """Some messages get through, and some do not."""
        ids = list(self.world.nodes)
        source = self._any().id
        targets = self.dice.sample(ids, 1 + self.dice(len(ids)))
        is_out = self.dice.chance(500)
        pairs = {(source, target) if is_out else (target, source) for target in targets if target != source}
        self._cut(pairs, f"{'from' if is_out else 'to'} n{source}")

    def _cut(self, pairs: set[tuple[NodeId, NodeId]], what: str) -> None:
        network = self.world.network
        network.cut |= pairs
        self.world.note(None, "cut", what)
        self.world.after(self._for_a_while(), lambda: network.cut.difference_update(pairs))

    def _bad_network(self) -> None:
        network, dice = self.world.network, self.dice
        network.lost, network.doubled, network.late = dice(300), dice(200), dice(100)
        network.delay_ms = (1, dice.choose((5, 30, 150)))
        self.world.note(None, "bad network", f"lost {network.lost} doubled {network.doubled} late {network.late}")
        self.world.after(self._for_a_while(), self._good_network)

    def _good_network(self) -> None:
        network = self.world.network
        network.lost = network.doubled = network.late = 0
        network.delay_ms = (1, 5)

    def _crash(self) -> None:
        """At once, or in the middle of what it does next."""
        node = self._any()
        if not node.is_up:
            return
        if self.dice.chance(500):
            node.dies_after = self.dice(6)
        else:
            node.crash()

    def _ambush(self) -> None:
        """A minority has slow disks. When their leader has died, they stand, and die as they ask for votes."""
        for leader in self.world.leaders():
            voters = leader.raft.voters if leader.raft else NO_VOTERS
            others = [node for node in self.world.nodes.values() if node is not leader and voters.contains(node.key)]
            victims = self.dice.sample(others, min(len(others), len(voters) - voters.majority))
            for victim in victims:
                self._slow_down(victim, (1_000, 3_000))
                victim.dies_as_candidate = True
            self._lie_in_wait(leader, victims, 500)

    def _lie_in_wait(self, leader: Node, victims: list[Node], patience: int) -> None:
        """The leader dies as soon as it has committed what victims have, but not on their disks."""
        if not self.is_suffering or not leader.raft or not isinstance(leader.raft.state, Leader):
            return
        offset = leader.raft.high_watermark
        if any(victim.disk.flushed_offset < offset <= victim.disk.end_offset for victim in victims):
            leader.crash()
        elif patience:
            self.world.after(3, self._lie_in_wait, (leader, victims, patience - 1))

    def _died(self, node: Node) -> None:
        self.world.after(self._for_a_while(), self._restart, (node,))

    def _restart(self, node: Node) -> None:
        if node.is_up or not self.is_suffering:
            return
        if (
            self._moved is None
            and self.is_dynamic
            and self.dice.chance(150)
            and self.survive(self.missing() | {node.key})
        ):
            self._moved, node.port = node, node.port + 100
        node.dies_after = self.dice(6) if self.dice.chance(100) else None
        node.start()

    def _pause(self) -> None:
        node = self._any()
        node.paused_until_ms = self.world.now_ms + self._for_a_while()
        self.world.note(node, "pauses", f"until {node.paused_until_ms}")

    def _jump(self) -> None:
        node = self._any()
        jump_ms = self.dice.choose((-5_000, -300, 100, 300, 1_000, 10_000))
        node.clock_offset_ms += jump_ms
        self.world.checker.clock_jumped(node, jump_ms)
        self.world.note(node, "clock jumps", f"to {node.now_ms}")

    def _slow_disk(self) -> None:
        node = self._any()
        self._slow_down(node, self.dice.choose(((20, 100), (100, 600), (500, 2_000))))

    def _slow_down(self, node: Node, flush_ms: tuple[int, int]) -> None:
        node.flush_ms = flush_ms
        self.world.note(node, "slow disk", str(node.flush_ms))
        self.world.after(self._for_a_while(), self._fast_disk, (node,))

    def _fast_disk(self, node: Node) -> None:
        node.flush_ms = (1, 5)

    def _snapshot(self) -> None:
        self._any().make_snapshot(is_trimmed=self.dice.chance(700), is_hasty=self.dice.chance(300))

    def _resign(self) -> None:
        for node in self.world.leaders():
            if node.raft:
                node.step(events.ResignRequested(node.raft.epoch))

    def _stop_gently(self) -> None:
        node = self._any()
        if node.raft:
            node.step(events.ShutdownRequested())
            self.world.after(self._for_a_while(), self._stop, (node, node.incarnation))

    def _stop(self, node: Node, incarnation: int) -> None:
        if self.is_suffering and node.incarnation == incarnation and node.is_up:
            node.crash()

    # -- voter changes

    def voter_sets(self) -> list[VoterSet]:
        """Every voter set that may still come to count: those of all logs, and the last that is committed."""
        committed = self.world.checker.committed
        sets = [entry.control.voters for entry in committed if isinstance(entry.control, Voters)][-1:]
        for node in self.world.nodes.values():
            held = [(at, record.voters) for at, record in node.disk.controls() if isinstance(record, Voters)]
            certain = [offset for offset, _ in held if offset < len(committed)]
            sets += [voters for offset, voters in held if offset >= max(certain, default=0)]
        return sets + ([] if self.is_dynamic else [self.static_voters])

    def missing(self) -> set[ReplicaKey]:
        """Voters that lost their disks, that others look for at an old address, or that may have been removed.

        The last stand for no election, but their votes may be needed: so it is in Kafka.
        """
        moved = self._moved
        is_unknown = moved is not None and any(
            voter.endpoints[0].port != moved.port
            for voters in self.voter_sets()
            for voter in voters
            if voter.key == moved.key
        )
        sets = [{voter.key for voter in voters} for voters in self.voter_sets()]
        leaving = {key for key in (sets[0] if sets else ()) if any(key not in keys for keys in sets)}
        return self.world.checker.lost_disks | leaving | ({moved.key} if moved and is_unknown else set())

    def survive(self, missing: set[ReplicaKey]) -> bool:
        """Whether every voter set has a majority without these, also if those of them join that asked to."""
        joining = [voter for voter in self.world.network.joining if voter.key in missing]
        joined = [VoterSet.of((*joining, *voters)) for voters in self.voter_sets()]
        return all(self.has_majority(voters, missing) for voters in joined)

    def has_majority(self, voters: VoterSet, missing: set[ReplicaKey]) -> bool:
        present = [voter for voter in voters if voter.key not in missing and self.is_at_home(voter, missing)]
        return len(present) >= voters.majority

    def is_at_home(self, voter: Voter, missing: set[ReplicaKey]) -> bool:
        """A static voter is known by its node id."""
        return voter.key.directory_id != NO_DIRECTORY or self.world.nodes[voter.key.id].key not in missing

    def _wipe(self) -> None:
        """A minority of the voters may lose their disks. They come back empty, with new directory ids."""
        node = self._any()
        if node.is_up and self.survive(self.missing() | {node.key}):
            node.crash()
            self.world.checker.lost_disks.add(node.key)
            node.disk = Disk(self.world.new_directory())
            self.world.note(node, "loses its disk", f"new directory {int.from_bytes(node.disk.directory_id, 'big')}")

    def _change_voters(self) -> None:
        """Ask a leader to add a node or to remove a voter, also itself, also several at once."""
        for leader in self.world.leaders():
            for _ in range(self.dice.between(1, 2)):
                raft = leader.raft
                if raft is None or not isinstance(raft.state, Leader):
                    return
                node = self.dice.choose(list(self.world.nodes.values()))
                if self.dice.chance(500) or len(raft.voters) < 3:
                    endpoints = (Endpoint("CONTROLLER", f"node-{node.id}", node.port),)
                    request: messages.Request = messages.AddRaftVoterRequest(Voter(node.key, endpoints))
                else:
                    voter = self.dice.choose(list(raft.voters))
                    remaining = raft.voters.without(voter.key.id)
                    if not (
                        self.survive(self.missing() | {voter.key}) and self.has_majority(remaining, self.missing())
                    ):
                        continue
                    request = messages.RemoveRaftVoterRequest(voter.key)
                self.world.ask(leader, request, type(request).__name__)

    def _upgrade(self) -> None:
        for leader in self.world.leaders():
            if leader.raft and self.dice.chance(300):
                self.world.ask(leader, messages.UpgradeRequest(DYNAMIC, leader.raft.epoch), "upgrade")

    # -- the end

    def _heal(self) -> None:
        """A majority of the voters comes back: a proposal must commit. Then all come back, and must be equal."""
        world = self.world
        world.note(None, "healing")
        self._good_network()
        world.network.cut.clear()
        for node in world.nodes.values():
            node.flush_ms, node.paused_until_ms, node.dies_after, node.dies_as_candidate = (1, 5), 0, None, False
            if node.raft and node.raft.is_shutting_down:
                node.crash()
                node.start()
        self._start_majority()
        target = len(world.checker.committed)
        world.after(1, self._keep_proposing)
        if not world.run_until(lambda: len(world.checker.committed) > target + 1, RECOVERY_MS):
            raise Violation(invariants.LIVENESS, f"nothing committed above {target} for {RECOVERY_MS} ms")
        for leader in world.leaders():
            leader.make_snapshot(is_trimmed=True)
        for node in world.nodes.values():
            if not node.is_up:
                node.start()
        if not world.run_until(self._is_calm, RECOVERY_MS):
            behind = [(node, node.applied_offset) for node in world.nodes.values()]
            raise Violation(invariants.EQUAL_AT_END, f"{len(world.checker.committed)} committed, applied {behind}")
        if not world.run_until(self._is_settled, RECOVERY_MS):
            found = [voter_set(leader.raft.voters) for leader in world.leaders() if leader.raft]
            raise Violation(invariants.SETTLED, f"voters {found} of {[key(node.key) for node in world.nodes.values()]}")

    def _start_majority(self) -> None:
        """Nodes that are down stay down if the others suffice for every voter set that may count, and can elect."""
        down = {node.key for node in self.world.nodes.values() if not node.is_up}
        for node in self.world.nodes.values():
            if not node.is_up and not (self.survive(self.missing() | down) and self._can_elect()):
                down.discard(node.key)
                node.start()

    def _can_elect(self) -> bool:
        """Whether a majority has no longer logs than one of them. An observer with a longer one helps nobody."""
        up = [node for node in self.world.nodes.values() if node.is_up and node.key not in self.missing()]
        return any(self._is_electable(node, up) for node in up)

    def _is_electable(self, node: Node, up: list[Node]) -> bool:
        voters = node.raft.voters if node.raft else NO_VOTERS
        end = node.disk.last_epoch, node.disk.end_offset
        granting = [each for each in up if (each.disk.last_epoch, each.disk.end_offset) <= end]
        return voters.contains(node.key) and sum(voters.contains(each.key) for each in granting) >= voters.majority

    def _keep_proposing(self) -> None:
        for leader in self.world.leaders():
            self.world.propose(leader)
            if self.is_upgraded_at_last and leader.raft:
                self.world.ask(leader, messages.UpgradeRequest(DYNAMIC, leader.raft.epoch), "upgrade")
        self._pull_snapshots()
        self.world.after(100, self._keep_proposing)

    def _pull_snapshots(self) -> None:
        """Now and then a leader deletes the snapshot that another is just downloading, as it has a later one."""
        rafts = [node.raft for node in self.world.nodes.values() if node.raft]
        if self._pulls and any(isinstance(raft.state, Follower) and raft.state.download for raft in rafts):
            self._pulls -= 1
            for leader in self.world.leaders():
                leader.make_snapshot(is_trimmed=True)

    def _is_calm(self) -> bool:
        """All nodes have applied all that is committed, but for what is on its way."""
        committed = len(self.world.checker.committed)
        nodes = list(self.world.nodes.values())
        return all(node.raft is not None and node.applied_offset >= committed - 3 for node in nodes)

    def _is_settled(self) -> bool:
        """Who wanted to join has joined, who moved is known at its new address, who was to be upgraded is."""
        rafts = [leader.raft for leader in self.world.leaders() if leader.raft]
        if len(rafts) != 1:
            return False
        voters, moved = rafts[0].voters, self._moved
        if self.is_auto_joined and not all(voters.contains(node.key) for node in self.world.nodes.values()):
            return False
        if moved and voters.contains(moved.key) and voters.endpoints(moved.id)[0].port != moved.port:
            return False
        return not self.is_upgraded_at_last or rafts[0].history.version == DYNAMIC
