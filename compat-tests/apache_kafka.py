"""Apache Kafka's own jars: what tests and benchmarks compare kafkish with.

Fetched once from Maven into the user's cache and used from there. Knows nothing of kafkish.

    python compat-tests/apache_kafka.py      prints the directory, fetching the jars if need be
"""

import contextlib
import socket
import subprocess
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import tooling

VERSION: Final = "4.3.0"

_POM: Final = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafkish</groupId><artifactId>apache-kafka</artifactId><version>{VERSION}</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-shell</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
"""
_LOGGER: Final = "org.slf4j.simpleLogger"


@cache
def jars() -> Path:
    """The directory of Kafka's jars and all that they need; fetched (15 s) if this machine does not have it."""
    return from_maven(f"apache-kafka-{VERSION}", _POM)


def from_maven(name: str, pom: str) -> Path:
    """The directory with the jars that a pom asks for, kept in the user's cache."""
    tooling.require("java", "mvn")

    def fetch(home: Path) -> None:
        (home / "pom.xml").write_text(pom)
        command = ["mvn", "-q", "-B", "-f", str(home / "pom.xml"), "dependency:copy-dependencies"]
        subprocess.run([*command, f"-DoutputDirectory={home / 'lib'}"], check=True, stdout=subprocess.DEVNULL)

    return tooling.kept(name, pom.encode(), fetch) / "lib"


def jar(name: str) -> Path:
    """One of Kafka's own jars, by its artifact's name."""
    return jars() / f"{name}-{VERSION}.jar"


def java(*arguments: str, heap: str = "512m", log_level: str = "off") -> list[str]:
    """A command line that runs a class of Kafka's, or a source file that uses its classes. Logs go to stderr."""
    options = [f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    logging = [f"-D{_LOGGER}.defaultLogLevel={log_level}", f"-D{_LOGGER}.showDateTime=true"]
    logging.append("-Dlog4j2.level=WARN")  # what a broker says of its loggers, which slf4j-simple does not ask
    return ["java", *options, *logging, "-cp", f"{jars()}/*", *arguments]


class ApacheKafka:
    """A single-node Apache Kafka on free ports of the loopback interface, in a directory of its own."""

    def __init__(self, directory: Path, format_options: Sequence[str] = (), /, **settings: str) -> None:
        """Format the directory and start. `settings` are lines of server.properties, with `_` for `.`.

        With `--standalone` among the options of `kafka-storage format`, its quorum may get other voters (KIP-853).
        """
        self.port, controller_port = free_port(), free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.log_path = directory / "kafka.log"
        self.data_dir = directory / "data"
        controller = f"127.0.0.1:{controller_port}"
        quorum = (
            {"bootstrap.servers": controller} if "--standalone" in format_options else {"voters": f"1@{controller}"}
        )
        lines = {
            "process.roles": "broker,controller",
            "node.id": "1",
            **{f"controller.quorum.{name}": value for name, value in quorum.items()},
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://{controller}",
            "log.dirs": str(self.data_dir),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        self._properties = directory / "server.properties"
        self._properties.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        format_storage = ["kafka.tools.StorageTool", "format", "-t", "kafkish-oracle-cluster"]
        format_storage += ["-c", str(self._properties), *format_options]
        subprocess.run(java(*format_storage), check=True, capture_output=True)
        self._process = self._launch()

    def _launch(self) -> subprocess.Popen[bytes]:
        command = java("kafka.Kafka", str(self._properties), heap="1g", log_level="info")
        with self.log_path.open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def wait_until_ready(self, timeout_s: float = 60) -> None:
        """Return when a client can connect; raise, with what Kafka printed, when it never can."""
        deadline = time.monotonic() + timeout_s
        while self._process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.05)
        raise RuntimeError(f"Apache Kafka did not start:\n{self.log_path.read_text()[-2000:]}")

    def stop(self) -> None:
        """As an operator stops it: with a clean shutdown."""
        self._process.terminate()
        self._process.wait()

    def kill(self) -> None:
        """As a fault stops it: at once."""
        self._process.kill()
        self._process.wait()

    def start(self) -> None:
        """Start again on the same data and ports."""
        self._process = self._launch()
        self.wait_until_ready()

    def __enter__(self) -> "ApacheKafka":
        self.wait_until_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    print(jars())  # noqa: T201
