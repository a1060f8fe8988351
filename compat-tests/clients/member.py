"""Members of groups: a consumer that a thread polls as an application does, and one in a process that can be killed.

python -m clients.member FAMILY ADDRESS SETTINGS TOPIC     joins, prints its assignment as JSON when it changes
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from clients.families.base import FROM_START, ClientError, Consumer, Family, Partition, Received, Settings
from waiting import until

# Quick to notice a rebalance; the session is as short as brokers allow by default.
QUICK = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 300, "enable.auto.commit": False, **FROM_START}


class Member:
    """A member of a group, until it leaves."""

    def __init__(self, consumer: Consumer) -> None:
        self.records: list[Received] = []
        self.assignment: set[Partition] = set()
        self.error: ClientError | None = None
        self._consumer = consumer
        self._leaving = threading.Event()
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._leaving.is_set():
                self._answer_calls()
                self.records += self._consumer.poll(0.1)
                self.assignment = self._consumer.assignment()
        except ClientError as error:
            self.error = error
        finally:
            self._consumer.close()

    def _answer_calls(self) -> None:
        while True:
            try:
                self._calls.get_nowait()()
            except Empty:
                return

    def call(self, function: Callable[[Consumer], None]) -> None:
        """Do something with the consumer, between two polls; returns when it is done."""
        done = threading.Event()

        def run() -> None:
            function(self._consumer)
            done.set()

        self._calls.put(run)
        until(lambda: done.is_set() or self.error, "the member's thread")
        assert self.error is None, self.error

    def leave(self) -> None:
        self._leaving.set()
        self._thread.join(30)
        assert not self._thread.is_alive(), "the consumer did not close"

    def values(self) -> list[bytes | None]:
        return [record.value for record in self.records]


def join(family: Family, group: str, topics: Sequence[str], settings: Settings | None = None) -> Member:
    consumer = family.open_consumer({**QUICK, "group.id": group, **(settings or {})})
    consumer.subscribe(topics)
    return Member(consumer)


@contextmanager
def member(family: Family, group: str, topics: Sequence[str], settings: Settings | None = None) -> Iterator[Member]:
    """A member that leaves at the end of the block, if it has not left before."""
    joined = join(family, group, topics, settings)
    try:
        yield joined
    finally:
        joined.leave()


class MemberProcess:
    """A member in a process of its own, which can be killed before it can say goodbye."""

    def __init__(self, family: Family, group: str, topic: str, settings: Settings | None = None) -> None:
        self.assignment: set[Partition] = set()
        wanted = json.dumps({**QUICK, "group.id": group, **(settings or {})})
        command = [sys.executable, "-m", "clients.member", family.name, family.address, wanted, topic]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.assignment = {(topic, number) for topic, number in json.loads(line)}

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def main(family: str, address: str, settings: str, topic: str) -> None:
    from clients.conftest import FAMILIES

    wanted: dict[str, Any] = json.loads(settings)
    joined = join(FAMILIES[family](address), wanted.pop("group.id"), [topic], wanted)
    last: set[Partition] = set()
    while joined.error is None:
        until(lambda last=last: joined.assignment != last or joined.error, "a new assignment", timeout_s=300)
        last = joined.assignment
        sys.stdout.write(json.dumps(sorted(last)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
