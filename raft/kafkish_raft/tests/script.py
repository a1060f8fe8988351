"""Scripts that a person can read: commands to a small quorum, each with what must follow from it.

A line that begins with `>` is a command, one that begins with `#` is a remark. What stands between a command and the
next remark, command or empty line is what the quorum did. `python -m kafkish_raft.tests.script --regenerate` writes the
scripts anew; read the difference before you believe it.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from kafkish_raft import events, messages
from kafkish_raft.replica import UnsafeError
from kafkish_raft.tests.simulation.disk import Disk
from kafkish_raft.tests.simulation.node import Node
from kafkish_raft.tests.simulation.trace import voter_set
from kafkish_raft.tests.simulation.world import World
from kafkish_raft.voters import DYNAMIC, DirectoryId, Endpoint, ReplicaKey, Voter

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.txt"))
PATIENCE_MS = 10_000


def play(text: str) -> str:
    """The script, with what its commands do now in the place of what they did."""
    stage = Stage()
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(">"):
            lines += [line, *stage.act(line[1:].strip())]
        elif line.startswith("#") or not line:
            lines.append(line)
    return "\n".join(lines) + "\n"


class Stage:
    """A quorum on a network without delays of its own, and the commands that move it."""

    def __init__(self) -> None:
        self.world = World(0, is_traced=True)
        self.world.is_chatty = False
        self.world.network.delay_ms = (1, 1)
        self.commands: dict[str, Callable[..., None]] = {
            r"found (\d+) voters?(?:, (\d+) observers?)?(, static)?(, auto-join)?": self._found,
            r"start( quietly)?((?: n\d+)*)": self._start,
            r"run (\d+) ms": self._run,
            r"run until (.+)": self._run_until,
            r"skip (\d+) ms": self._skip,
            r"propose (n\d+)(?: (\d+) times)?": self._propose,
            r"cut (.+) from (.+)": self._cut,
            r"cut (.+) on the way to (.+)": self._cut_one_way,
            r"heal": self.world.network.cut.clear,
            r"crash (n\d+)": lambda name: self._node(name).crash(),
            r"crash (n\d+) after (\d+) effects": self._crash_later,
            r"replace the disk of (n\d+)": self._replace_disk,
            r"pause (n\d+) for (\d+) ms": self._pause,
            r"flushes of (n\d+) take (\d+) ms": self._slow_disk,
            r"snapshot (n\d+)": lambda name: self._node(name).make_snapshot(is_trimmed=True),
            r"resign (n\d+)": lambda name: self._resign(self._node(name)),
            r"stop (n\d+)": lambda name: self._node(name).step(events.ShutdownRequested()),
            r"ask (n\d+) to (add|remove) (n\d+)( with its lost disk)?": self._change,
            r"ask (n\d+) to upgrade": self._upgrade,
            r"tell (n\d+) (.+)": self._tell,
            r"show": self._show,
        }

    def act(self, command: str) -> Iterator[str]:
        """Obey; what happened."""
        world = self.world
        world.trace.clear()
        world.answers.clear()
        for pattern, action in self.commands.items():
            found = re.fullmatch(pattern, command)
            if found:
                try:
                    action(*found.groups())
                except UnsafeError as error:
                    world.trace.append(f"{'':13}STOPS: {error}")
                break
        else:
            raise ValueError(f"no such command: {command}. There are: {', '.join(self.commands)}")
        yield from world.trace

    def _node(self, name: str) -> Node:
        return self.world.nodes[int(name[1:])]

    def _nodes(self, names: str) -> list[Node]:
        return [self._node(name) for name in names.split()]

    def _found(self, voters: str, observers: str | None, static: str | None, auto_join: str | None) -> None:
        self.world.found(int(voters), int(observers or 0), is_dynamic=not static, auto_join=bool(auto_join))
        for node in self.world.nodes.values():
            node.flush_ms = (1, 1)

    def _start(self, quietly: str | None, names: str) -> None:
        for node in self._nodes(names) or list(self.world.nodes.values()):
            node.start()
        if quietly:
            self._skip("500")

    # -- time

    def _run(self, ms: str) -> None:
        end_ms = self.world.now_ms + int(ms)
        self.world.run_until(lambda: False, int(ms))
        self.world.now_ms = end_ms

    def _skip(self, ms: str) -> None:
        """As run, without a word."""
        self._run(ms)
        self.world.trace.clear()

    def _run_until(self, condition: str) -> None:
        """`leader`, `n1 leads`, `all have 5`, `n2 has 5`: the last two are about applied records."""
        world = self.world
        words = condition.split()
        tests: dict[str, Callable[[], bool]] = {
            "leader": lambda: bool(world.leaders()),
            "leads": lambda: self._node(words[0]) in world.leaders(),
            "have": lambda: all(node.applied_offset >= int(words[2]) for node in world.nodes.values() if node.is_up),
            "has": lambda: self._node(words[0]).applied_offset >= int(words[2]),
        }
        test = tests[words[1] if len(words) > 1 else words[0]]
        if not world.run_until(test, PATIENCE_MS):
            self.world.trace.append(f"{'':13}NOT WITHIN {PATIENCE_MS} ms")

    # -- misfortune

    def _cut(self, names: str, others: str) -> None:
        pairs = {(a.id, b.id) for a in self._nodes(names) for b in self._nodes(others)}
        self.world.network.cut |= pairs | {(b, a) for a, b in pairs}

    def _cut_one_way(self, names: str, others: str) -> None:
        self.world.network.cut |= {(a.id, b.id) for a in self._nodes(names) for b in self._nodes(others)}

    def _crash_later(self, name: str, effects: str) -> None:
        self._node(name).dies_after = int(effects)

    def _replace_disk(self, name: str) -> None:
        node = self._node(name)
        if node.is_up:
            node.crash()
        self.world.checker.lost_disks.add(node.key)
        node.disk = Disk(self.world.new_directory())

    def _pause(self, name: str, ms: str) -> None:
        self._node(name).paused_until_ms = self.world.now_ms + int(ms)

    def _slow_disk(self, name: str, ms: str) -> None:
        self._node(name).flush_ms = (int(ms), int(ms))

    # -- requests

    def _propose(self, name: str, times: str | None) -> None:
        for _ in range(int(times or 1)):
            self.world.propose(self._node(name))

    def _resign(self, node: Node) -> None:
        if node.raft:
            node.step(events.ResignRequested(node.raft.epoch))

    def _change(self, name: str, what: str, voter_name: str, lost: str | None) -> None:
        voter = self._node(voter_name)
        key = next(key for key in self.world.checker.lost_disks if key.id == voter.id) if lost else voter.key
        endpoints = (Endpoint("CONTROLLER", f"node-{voter.id}", voter.port),)
        request: messages.Request = messages.RemoveRaftVoterRequest(key)
        if what == "add":
            request = messages.AddRaftVoterRequest(Voter(key, endpoints))
        self.world.ask(self._node(name), request, what)

    def _upgrade(self, name: str) -> None:
        raft = self._node(name).raft
        if raft:
            self.world.ask(self._node(name), messages.UpgradeRequest(DYNAMIC, raft.epoch), "upgrade")

    def _tell(self, name: str, words: str) -> None:
        self.world.is_chatty = True
        self.world.ask(self._node(name), self._request(self._node(name), words), words)
        self.world.is_chatty = False

    def _request(self, target: Node, words: str) -> messages.Request:
        """`vote for n2 in epoch 3, log 5@2`, and so on: a message by hand."""
        key, epoch, offset, last_epoch = self._facts(words)
        kind = words.partition(" ")[0]
        if kind in ("vote", "pre-vote"):
            disk = DirectoryId(b"lost".rjust(16, b"\0")) if "other disk" in words else target.disk.directory_id
            voter = ReplicaKey(target.id, disk)
            return messages.VoteRequest(voter, key, epoch, last_epoch, offset, kind == "pre-vote")
        if kind == "fetch":
            return messages.FetchRequest(key, epoch, offset, last_epoch, 0, 0, 1000)
        endpoints = (Endpoint("CONTROLLER", f"node-{key.id}", key.id),)
        if kind == "begin":
            return messages.BeginQuorumEpochRequest(target.key, key.id, epoch, endpoints)
        if kind == "end":
            return messages.EndQuorumEpochRequest(key.id, epoch, (target.key,), endpoints)
        raise ValueError(f"no such message: {words}")

    def _facts(self, words: str) -> tuple[ReplicaKey, int, int, int]:
        name = re.search(r"n-?\d+", words)
        epoch = re.search(r"epoch (-?\d+)", words)
        log = re.search(r"log (-?\d+)@(-?\d+)", words)
        assert name
        assert epoch
        node = self.world.nodes.get(int(name[0][1:]))
        key = node.key if node else ReplicaKey(int(name[0][1:]))
        return key, int(epoch[1]), int(log[1]) if log else 0, int(log[2]) if log else 0

    def _show(self) -> None:
        for node in self.world.nodes.values():
            raft, disk = node.raft, node.disk
            log = f"log [{disk.start_offset}, {disk.end_offset})"
            if raft is None:
                self.world.trace.append(f"        n{node.id}   down, {log}")
                continue
            state = f"{raft.role} of epoch {raft.epoch}, {log}, committed {raft.high_watermark}"
            self.world.trace.append(f"        n{node.id}   {state}, voters {voter_set(raft.voters)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Play the scripts and show where they differ.")
    parser.add_argument("--regenerate", action="store_true", help="write what happens now into the scripts")
    arguments = parser.parse_args()
    for path in SCRIPTS:
        text = path.read_text()
        played = play(text)
        if played != text and arguments.regenerate:
            path.write_text(played)
        print(f"{path.name}: {'as written' if played == text else 'differs'}")  # noqa: T201  # a command-line tool


if __name__ == "__main__":
    main()
