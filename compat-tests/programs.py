"""Clients in Go and in Node: franz-go, sarama and KafkaJS, each in a program that is built when a test needs it.

    PROGRAM member ADDRESS GROUP TOPIC ASSIGNOR INSTANCE     joins until SIGTERM, and commits what it reads
    PROGRAM produce ADDRESS TOPIC CODEC                      sends the lines of its input

They print lines of JSON: {"assigned": [partition, ...]} at every change, {"record": [partition, offset, value]},
{"sent": [partition, offset]}.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
from functools import cache
from pathlib import Path
from typing import Any, Final

import tooling

HERE: Final = Path(__file__).parent
PATIENCE_S: Final = 600  # to fetch and build on a busy machine


class Program:
    """A client library's program, by the name of the library."""

    def __init__(self, name: str, *, needs: tuple[str, ...], assignors: tuple[str, ...], codecs: str) -> None:
        self.name = name
        self.needs = needs
        self.assignors = assignors
        self.codecs = codecs.split()
        self.has_static_members = name != "kafkajs"

    def command(self) -> list[str]:
        """How to call it; built first, if this machine has not yet."""
        tooling.require(*self.needs)
        if self.name == "kafkajs":
            return ["node", str(node_programs() / "kafkajs.js")]
        return [str(go_programs() / self.name)]

    def produce(self, address: str, topic: str, codec: str, values: list[str]) -> list[dict[str, Any]]:
        """What it printed when it had sent these."""
        run = subprocess.run(
            [*self.command(), "produce", address, topic, codec],
            input="\n".join(values), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        return [json.loads(line) for line in run.stdout.splitlines()]


FRANZ: Final = Program(
    "franz", needs=("go",), assignors=("range", "roundrobin", "sticky", "cooperative-sticky"),
    codecs="none gzip snappy lz4 zstd",
)  # fmt: skip
SARAMA: Final = Program(
    "sarama", needs=("go",), assignors=("range", "roundrobin", "sticky"), codecs="none gzip snappy lz4 zstd"
)
KAFKAJS: Final = Program("kafkajs", needs=("node", "npm"), assignors=("roundrobin",), codecs="none gzip snappy")
PROGRAMS: Final = (FRANZ, SARAMA, KAFKAJS)


class MemberProgram:
    """A member of a group in a process of its own."""

    def __init__(self, program: Program, address: str, group: str, topic: str, assignor: str, instance: str) -> None:
        self.assignment: set[int] = set()
        self.values: list[str] = []
        command = [*program.command(), "member", address, group, topic, assignor, instance]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            told = json.loads(line)
            if "assigned" in told:
                self.assignment = set(told["assigned"])
            else:
                self.values.append(told["record"][2])

    def leave(self) -> None:
        """As a program that is told to end."""
        self.process.terminate()
        assert self.process.wait(30) in (0, -signal.SIGTERM)

    def freeze(self) -> None:
        """It hears and says nothing any more, and its connections stay."""
        self.process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


# -- building


@cache
def go_programs() -> Path:
    """Where they are. The first time, libraries are fetched (20 MB) and compiled: a minute or two."""
    sources = HERE / "go"
    return tooling.kept(
        "compat-go", recipe(sources), lambda home: run(["go", "build", "-o", f"{home}/", "./..."], sources)
    )


@cache
def node_programs() -> Path:
    """Where they are. The first time, libraries are fetched (3 MB): a second or two."""
    sources = HERE / "node"

    def install(home: Path) -> None:
        shutil.copytree(sources, home, dirs_exist_ok=True)
        quietly = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
        run(["npm", "install", *quietly], home)

    return tooling.kept("compat-node", recipe(sources), install)


def recipe(sources: Path) -> bytes:
    """All source files: another one, another program."""
    return b"".join(path.read_bytes() for path in sorted(sources.rglob("*")) if path.is_file())


def run(command: list[str], where: Path) -> None:
    """A tool that is too old for these libraries, or has no network, is as good as missing."""
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false"}
    ended = subprocess.run(
        command, cwd=where, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    if ended.returncode:
        raise tooling.MissingToolError(f"{' '.join(command[:2])} failed: {ended.stderr[-500:]}")
