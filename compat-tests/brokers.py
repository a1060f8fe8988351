"""The brokers that tests run against. Each kind gives an address, and says what this machine may do with it.

`--broker` names the kind: `kafkish`, `apache`, `docker`, or the HOST:PORT of a broker that runs already.
A broker that we started is owned: a test may stop, kill and start it. An address is not.
"""

import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import apache_kafka

# Kafka's defaults, apart from waits that only make tests slow. Every kind of broker that we start gets the same.
SETTINGS: Final = {
    "broker.session.timeout.ms": "3000",  # a killed node may not come back earlier
    "group.initial.rebalance.delay.ms": "0",
    "offsets.retention.check.interval.ms": "300",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "log.cleaner.backoff.ms": "100",
    "log.retention.check.interval.ms": "500",
    "log.initial.task.delay.ms": "500",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}
DOCKER_IMAGE: Final = f"apache/kafka:{apache_kafka.VERSION}"


class NoEngineError(RuntimeError):
    """No Docker engine answers on this machine."""


class Broker:
    """A broker at an address: all that is known of one that somebody else runs."""

    kind = "address"
    owned = False
    pid: int | None = None
    log_path: Path | None = None
    data_dir: Path | None = None

    def __init__(self, address: str) -> None:
        self.address = address

    @property
    def host(self) -> str:
        return self.address.rpartition(":")[0]

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def stop(self) -> None:
        raise NotImplementedError(f"the broker at {self.address} is not ours to stop")

    def kill(self) -> None:
        raise NotImplementedError(f"the broker at {self.address} is not ours to kill")

    def start(self) -> None:
        raise NotImplementedError(f"the broker at {self.address} is not ours to start")

    def memory_bytes(self) -> int:
        """What the broker's process holds in memory; 0 if nobody here can tell."""
        if self.pid is None:
            return 0
        run = subprocess.run(["ps", "-o", "rss=", "-p", str(self.pid)], capture_output=True, text=True, check=True)
        return int(run.stdout) * 1024

    def peak_memory_bytes(self) -> int:
        """The most that it ever held; 0 if nobody here can tell."""
        status = Path(f"/proc/{self.pid}/status")
        if self.pid is None or not status.exists():
            return 0
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if "VmHWM" in line)

    def log_tail(self, lines: int = 40) -> str:
        """The last lines that the broker logged."""
        if self.log_path is None:
            return "no log: the broker is not ours"
        return "\n".join(self.log_path.read_text(errors="replace").splitlines()[-lines:])


class ApacheBroker(Broker):
    """Apache Kafka from Maven's jars, in a process of this machine."""

    kind = "apache"
    owned = True

    def __init__(self, directory: Path, settings: Mapping[str, str]) -> None:
        self._kafka = apache_kafka.ApacheKafka(directory, **{**SETTINGS, **settings})
        self._kafka.wait_until_ready()
        super().__init__(self._kafka.address)
        self.log_path, self.data_dir = self._kafka.log_path, self._kafka.data_dir
        self.stop, self.kill, self.start = self._kafka.stop, self._kafka.kill, self._kafka.start  # type: ignore[method-assign]


class KafkishBroker(Broker):
    """kafkish, started by its command as a user starts it."""

    kind = "kafkish"
    owned = True

    def __init__(self, directory: Path, settings: Mapping[str, str]) -> None:
        self.log_path, self.data_dir = directory / "kafkish.log", directory / "data"
        self._settings = {**SETTINGS, **settings}
        self._ready_file = directory / "ready"
        super().__init__("127.0.0.1:0")
        self.start()

    def start(self) -> None:
        """The first start picks a port; later ones listen where clients know the broker."""
        assert self.log_path is not None
        self._ready_file.unlink(missing_ok=True)
        command = [kafkish_command(), "serve", "--listen", self.address, "--data-dir", str(self.data_dir)]
        command += ["--ready-file", str(self._ready_file)]
        for name, value in self._settings.items():
            command += ["--set", f"{name}={value}"]
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        self.pid = self._process.pid
        self.address = self._wait_for_address()

    def _wait_for_address(self, timeout_s: float = 30) -> str:
        deadline = time.monotonic() + timeout_s
        while self._process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError):
                if address := self._ready_file.read_text().strip():
                    return address
            time.sleep(0.01)
        self.kill()
        raise RuntimeError(f"kafkish did not start:\n{self.log_tail()}")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class DockerBroker(Broker):
    """Apache Kafka in a container."""

    kind = "docker"
    owned = True

    def __init__(self) -> None:
        port = apache_kafka.free_port()
        super().__init__(f"127.0.0.1:{port}")
        self._container = docker_container(port)
        self._container.start()
        wait_for_connection(self.host, self.port, self.log_tail)

    def stop(self) -> None:
        self._container.get_wrapped_container().stop()

    def kill(self) -> None:
        self._container.get_wrapped_container().kill()

    def start(self) -> None:
        self._container.get_wrapped_container().start()
        wait_for_connection(self.host, self.port, self.log_tail)

    def remove(self) -> None:
        self._container.stop(force=True)

    def log_tail(self, lines: int = 40) -> str:
        tail: bytes = self._container.get_wrapped_container().logs(tail=lines)
        return tail.decode(errors="replace")


def kafkish_command() -> str:
    """The command that `pip install` put beside this Python, or else the first one on the PATH."""
    beside = Path(sys.executable).with_name("kafkish")
    return str(beside) if beside.exists() else shutil.which("kafkish") or "kafkish"


def docker_container(port: int) -> Any:
    """A container of Apache Kafka, not yet started, that clients of this machine reach at `port`."""
    try:
        from testcontainers.core.container import DockerContainer

        import docker

        docker.from_env().ping()
    except Exception as error:  # the library's own errors, sockets' and import's: all mean the same
        raise NoEngineError(f"no Docker engine answers: {error}") from error
    container = DockerContainer(DOCKER_IMAGE).with_bind_ports(port, port)
    environment = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": "1@127.0.0.1:9093",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "listeners": f"PLAINTEXT://0.0.0.0:{port},CONTROLLER://127.0.0.1:9093",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        **SETTINGS,
    }
    for name, value in environment.items():
        container = container.with_env("KAFKA_" + name.upper().replace(".", "_"), value)
    return container


def wait_for_connection(host: str, port: int, log_tail: Any, timeout_s: float = 90) -> None:
    """A container's port accepts before its broker does, so ask for ApiVersions."""
    from wire import Wire

    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), Wire(f"{host}:{port}") as wire:
            wire.api_versions()
            return
        time.sleep(0.1)
    raise RuntimeError(f"the broker at {host}:{port} did not start:\n{log_tail()}")


@contextlib.contextmanager
def running(kind: str, directory: Path, settings: Mapping[str, str] = {}) -> Iterator[Broker]:
    """The broker that `--broker=kind` asks for, until the block ends; with settings of its own, if they are ours."""
    broker: Broker
    if kind == "apache":
        broker = ApacheBroker(directory, settings)
    elif kind == "kafkish":
        broker = KafkishBroker(directory, settings)
    elif settings:
        raise NoEngineError(f"a broker of the kind {kind} has the settings that it has")
    elif kind == "docker":
        broker = DockerBroker()
    else:
        broker = Broker(kind)
    try:
        yield broker
    finally:
        if isinstance(broker, DockerBroker):
            broker.remove()
        elif broker.owned:
            broker.kill()
