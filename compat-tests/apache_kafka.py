"""Apache Kafka's own jars: what tests and benchmarks compare kafkish with.

Fetched once from Maven into the user's cache and used from there. Knows nothing of kafkish.

    python compat-tests/apache_kafka.py      prints the directory, fetching the jars if need be
"""

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import Final

VERSION: Final = "4.3.0"

_POM: Final = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafkish</groupId><artifactId>apache-kafka</artifactId><version>{VERSION}</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-shell</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
"""


class MissingToolError(RuntimeError):
    """Java or Maven is not on this machine."""


def require(*programs: str) -> None:
    """Refuse with a sentence that says what to install."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise MissingToolError(f"{' and '.join(missing)} not found; `make tools` installs them or says how")


@cache
def jars() -> Path:
    """The directory of Kafka's jars and all that they need; fetched (15 s) if this machine does not have it."""
    require("java", "mvn")
    home = Path(os.environ.get("KAFKISH_CACHE", Path.home() / ".cache" / "kafkish")) / f"apache-kafka-{VERSION}"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "complete").exists():
            (home / "pom.xml").write_text(_POM)
            command = ["mvn", "-q", "-B", "-f", str(home / "pom.xml"), "dependency:copy-dependencies"]
            subprocess.run([*command, f"-DoutputDirectory={home / 'lib'}"], check=True, stdout=subprocess.DEVNULL)
            (home / "complete").touch()
    return home / "lib"


def jar(name: str) -> Path:
    """One of Kafka's own jars, by its artifact's name."""
    return jars() / f"{name}-{VERSION}.jar"


def java(*arguments: str, heap: str = "512m") -> list[str]:
    """A command line that runs a class of Kafka's, or a source file that uses its classes."""
    return ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars()}/*", *arguments]


class ApacheKafka:
    """A single-node Apache Kafka on free ports of the loopback interface, in a directory of its own."""

    def __init__(self, directory: Path, **settings: str) -> None:
        """Format the directory and start. `settings` are lines of server.properties, with `_` for `.`."""
        self.port, controller_port = free_port(), free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.log_path = directory / "kafka.log"
        lines = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller_port}",
            "log.dirs": str(directory / "data"),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        properties = directory / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        format_storage = ["kafka.tools.StorageTool", "format", "-t", "kafkish-oracle-cluster", "-c", str(properties)]
        subprocess.run(java(*format_storage), check=True, capture_output=True)
        with self.log_path.open("wb") as log:
            self._process = subprocess.Popen(java("kafka.Kafka", str(properties), heap="1g"), stdout=log, stderr=log)

    def wait_until_ready(self, timeout_s: float = 60) -> None:
        """Return when a client can connect; raise, with what Kafka printed, when it never can."""
        deadline = time.monotonic() + timeout_s
        while self._process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.05)
        raise RuntimeError(f"Apache Kafka did not start:\n{self.log_path.read_text()[-2000:]}")

    def __enter__(self) -> "ApacheKafka":
        self.wait_until_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    print(jars())  # noqa: T201
