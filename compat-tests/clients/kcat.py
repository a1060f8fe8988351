"""kcat, run once or as a member of a group, with the system's librdkafka or another."""

import json
import os
import re
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any


class Kcat:
    """Runs kcat against one broker."""

    def __init__(self, address: str, library: Path | None = None) -> None:
        """`library` is the directory of another librdkafka than the system's."""
        self.address = address
        self.environment = {**os.environ, **({"LD_LIBRARY_PATH": str(library)} if library else {})}

    def run(self, *arguments: str, stdin: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        command = ["kcat", "-b", self.address, *arguments]
        run = subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=False, timeout=60, env=self.environment
        )
        assert run.returncode == 0 or not check, run.stderr
        return run

    def read(self, topic: str, *arguments: str) -> list[dict[str, Any]]:
        """Consume to the end of the topic: one JSON object for each record."""
        run = self.run("-C", "-t", topic, "-J", "-e", "-q", *arguments)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def values(self, topic: str, *arguments: str) -> list[str]:
        return [record["payload"] for record in self.read(topic, *arguments)]


class Balanced:
    """A `kcat -G` that runs until it is ended."""

    def __init__(self, kcat: Kcat, group: str, topic: str, *settings: str) -> None:
        options = ["-X", "session.timeout.ms=6000", "-X", "heartbeat.interval.ms=300", "-o", "beginning"]
        command = ["kcat", "-b", kcat.address, *options, *settings, "-u", "-G", group, topic]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=kcat.environment
        )
        self.values: list[str] = []
        self.assignment: set[int] = set()
        for reader in (self._read_values, self._read_assignments):
            threading.Thread(target=reader, daemon=True).start()

    def _read_values(self) -> None:
        assert self.process.stdout is not None
        self.values.extend(line.rstrip("\n") for line in self.process.stdout)

    def _read_assignments(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            partitions = {int(number) for number in re.findall(r"\[(\d+)\]", line)}
            if "rebalanced" in line and "assign" in line:
                self.assignment |= partitions
            elif "rebalanced" in line and "revoke" in line:
                self.assignment -= partitions

    def end(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.process.wait(30)
