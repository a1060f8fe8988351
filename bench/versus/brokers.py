"""The two brokers, each a process of its own, and what the system says of that process.

Knows nothing of requests. Both get the same settings, and each the runtime options that its users have.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "compat-tests"))

import apache_kafka as apache_kafka  # noqa: E402, PLC0414  # the path is set above; others take it from here

KAFKISH: Final = "kafkish"
APACHE: Final = "Apache Kafka"

SETTINGS: Final = {
    "group.initial.rebalance.delay.ms": "0",  # what is measured is the rebalance, not the wait before it
    "log.segment.delete.delay.ms": "1000",  # deleted topics of earlier rows must not fill the disk
}
JVM: Final = ["-Xms1G", "-Xmx1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
              "-XX:InitiatingHeapOccupancyPercent=35", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]  # fmt: skip
"""Those of kafka-server-start.sh. It logs less than it would there, as kafkish does."""

# ApiVersions, version 0: key 18, version 0, correlation id 1, no client id.
FIRST_REQUEST: Final = b"\x00\x00\x00\x0a\x00\x12\x00\x00\x00\x00\x00\x01\xff\xff"
START_TIMEOUT_S: Final = 60


class Broker:
    """A broker that is started by a command, as often as wanted, always on the same port and data."""

    def __init__(self, name: str, command: list[str], port: int, directory: Path) -> None:
        self.name, self.port = name, port
        self.address = f"127.0.0.1:{port}"
        self.data_dir = directory / "data"
        self._command, self._log_path = command, directory / "broker.log"

    def start(self) -> float:
        """Milliseconds until it has answered a request."""
        started_s = time.perf_counter()
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        while not self._answers():
            if self._process.poll() is not None or time.perf_counter() - started_s > START_TIMEOUT_S:
                self.stop()
                raise SystemExit(f"{self.name} did not start:\n{self._log_path.read_text()[-2000:]}")
            time.sleep(0.002)
        return (time.perf_counter() - started_s) * 1000

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(START_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5) as client:
            client.sendall(FIRST_REQUEST)
            return len(client.recv(4)) == 4
        return False

    def resident_mb(self) -> float:
        """Memory that is really there."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def cpu_s(self) -> float:
        """What all its threads have used so far."""
        return time.clock_gettime((~self.pid << 3) | 2)  # Linux's clock of another process's CPU time

    def forget_pages(self, topic: str) -> None:
        """Have the system drop a topic's records from its page cache, so that reads come from the disk."""
        for path in self.data_dir.glob(f"{topic}-*/*.log"):
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def make_kafkish(directory: Path) -> Broker:
    """kafkish by its command line."""
    directory.mkdir()
    port = apache_kafka.free_port()
    command = [str(Path(sys.executable).with_name("kafkish")), "serve", "--listen", f"127.0.0.1:{port}"]
    command += ["--data-dir", str(directory / "data")]
    for name, value in SETTINGS.items():
        command += ["--set", f"{name}={value}"]
    return Broker(KAFKISH, command, port, directory)


class Formatted(apache_kafka.ApacheKafka):
    """A directory and ports for Apache Kafka; `Broker` starts it, with other options."""

    def _launch(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["true"])


def make_apache(directory: Path) -> Broker:
    """Apache Kafka with its own options of the JVM."""
    directory.mkdir()
    settings = {name.replace(".", "_"): value for name, value in SETTINGS.items()}
    port = Formatted(directory, **settings).port
    classes = ["-cp", f"{apache_kafka.jars()}/*", "kafka.Kafka", str(directory / "server.properties")]
    return Broker(APACHE, ["java", *JVM, *classes], port, directory)


MAKERS: Final = {KAFKISH: make_kafkish, APACHE: make_apache}


@contextlib.contextmanager
def both(only: str = "") -> Iterator[dict[str, Broker]]:
    """Both brokers (or the one that is named), running, until the block ends."""
    compiled = [sys.executable, "-m", "compileall", "-q", "kafkish", "protocol", "storage", "raft"]
    subprocess.run(compiled, cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory(prefix="kafkish-bench-") as scratch, contextlib.ExitStack() as stack:
        running = {}
        for name, make in MAKERS.items():
            if only in ("", name):
                running[name] = make(Path(scratch) / name.replace(" ", "-"))
                running[name].start()
                stack.callback(running[name].stop)
        yield running
