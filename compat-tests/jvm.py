"""One JVM with Kafka's Java clients and tools in it, since a JVM for each call would cost a second each.

The Java side is `java/Main.java`: lines of JSON go in, lines of JSON come out.
"""

import hashlib
import itertools
import json
import os
import subprocess
import tempfile
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import apache_kafka

SOURCES: Final = sorted((Path(__file__).parent / "java").glob("*.java"))


class JavaError(RuntimeError):
    """What a Java client threw. `code` is the broker's error code, or -1 where the client itself objected."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(f"{name} ({code}): {message}")
        self.code, self.name = code, name


@dataclass(frozen=True)
class ToolRun:
    """What a command-line tool printed, and its exit status."""

    status: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"exit {self.status}\n{self.out}\n{self.err}"


@cache
def classes() -> Path:
    """The compiled Java side, kept beside Kafka's jars until a source changes."""
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES)).hexdigest()[:12]
    home = apache_kafka.jars().parent / f"compat-classes-{digest}"
    if not home.exists():
        with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
            compile_java = ["javac", "-nowarn", "-cp", f"{apache_kafka.jars()}/*", "-d", f"{scratch}/classes"]
            subprocess.run([*compile_java, *map(str, SOURCES)], check=True)
            if not home.exists():  # another run may have been faster
                os.rename(f"{scratch}/classes", home)
    return home


class Jvm:
    """The running JVM. Calls may come from several threads."""

    def __init__(self) -> None:
        command = apache_kafka.java("Main", heap="768m")
        where = command.index("-cp") + 1
        command[where] += f":{classes()}"
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._waiting: dict[int, Future[Any]] = {}
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            reply = json.loads(line)
            answer = self._waiting.pop(reply["id"])
            if error := reply.get("error"):
                answer.set_exception(JavaError(**error))
            else:
                answer.set_result(reply["result"])
        for answer in self._waiting.values():
            answer.set_exception(EOFError("the JVM ended"))

    def call(self, op: str, *, timeout_s: float = 60, **arguments: Any) -> Any:
        """The result of one operation; raises what Java threw as a JavaError."""
        answer: Future[Any] = Future()
        with self._lock:
            number = next(self._ids)
            self._waiting[number] = answer
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps({"id": number, "op": op, **arguments}) + "\n")
            self.process.stdin.flush()
        return answer.result(timeout_s)

    def tool(self, name: str, *arguments: str, stdin: str = "", timeout_s: float = 60) -> ToolRun:
        """Run a command-line tool by the name of its class."""
        run = self.call("tool", tool=name, arguments=list(arguments), input=stdin, timeout_s=timeout_s)
        return ToolRun(**run)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
