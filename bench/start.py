"""From nothing to the first answered request, and what an idle broker holds in memory: kafkish beside Apache Kafka.

Both start in turns on directories that are formatted already. A round ends when ApiVersions is answered; memory is read
two seconds later.
"""

import argparse
import contextlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "compat-tests"))

import apache_kafka  # noqa: E402  # the path is set above

# ApiVersions, version 0: key 18, version 0, correlation id 1, no client id.
FRAME = b"\x00\x00\x00\x0a\x00\x12\x00\x00\x00\x00\x00\x01\xff\xff"
IDLE_S = 2


class Round(NamedTuple):
    """One start."""

    answered_ms: float
    idle_mb: float


def measure(command: list[str], port: int) -> Round:
    """Start, ask until there is an answer, look at the memory, stop."""
    started_s = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not answers(port):
            if process.poll() is not None:
                raise SystemExit(f"{command[0]} ended instead of starting")
        answered_ms = (time.perf_counter() - started_s) * 1000
        time.sleep(IDLE_S)
        return Round(answered_ms, resident_mb(process.pid))
    finally:
        process.terminate()
        process.wait()


def answers(port: int) -> bool:
    """Whether the broker answers a request now."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(FRAME)
        return len(client.recv(4)) == 4
    time.sleep(0.002)
    return False


def resident_mb(pid: int) -> float:
    """Memory that is really there."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


def kafkish(directory: Path) -> tuple[list[str], int]:
    port = apache_kafka.free_port()
    serve = [str(Path(sys.executable).parent / "kafkish"), "serve"]
    return [*serve, "--listen", f"127.0.0.1:{port}", "--data-dir", str(directory)], port


def apache(directory: Path) -> tuple[list[str], int]:
    """Kafka with its own default options of the JVM, but for the heap's limit of 1 GB, which is the same."""
    directory.mkdir()
    running = apache_kafka.ApacheKafka(directory)
    running.wait_until_ready()
    running.stop()
    options = ["-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC"]
    classes = ["-cp", f"{apache_kafka.jars()}/*", "kafka.Kafka", str(directory / "server.properties")]
    return ["java", *options, *classes], running.port


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    subprocess.run(
        [sys.executable, "-m", "compileall", "-q", "kafkish", "protocol", "storage", "raft"], cwd=ROOT, check=True
    )
    makers: dict[str, Callable[[Path], tuple[list[str], int]]] = {"kafkish": kafkish, "Apache Kafka": apache}
    seen: dict[str, list[Round]] = {name: [] for name in makers}
    with tempfile.TemporaryDirectory() as scratch:
        commands = {name: make(Path(scratch) / name.replace(" ", "-")) for name, make in makers.items()}
        measure(*commands["kafkish"])  # formats its directory
        for number in range(rounds):
            for name, command in commands.items():
                print(f"\rround {number + 1} of {rounds}: {name:12}", end="", file=sys.stderr, flush=True)
                seen[name].append(measure(*command))
    report(seen)


def report(seen: dict[str, list[Round]]) -> None:
    """Medians, their spread, and the ratio."""
    print("\n| broker | first answer | from ... to | idle memory |\n|---|---|---|---|")
    for name, rounds in seen.items():
        times = sorted(each.answered_ms for each in rounds)
        memory = statistics.median(each.idle_mb for each in rounds)
        print(
            f"| {name} | {statistics.median(times):,.0f} ms | {times[0]:,.0f} ... {times[-1]:,.0f} | {memory:.0f} MB |"
        )
    own, other = (
        Round(
            statistics.median(each.answered_ms for each in rounds), statistics.median(each.idle_mb for each in rounds)
        )
        for rounds in seen.values()
    )
    sooner, less = other.answered_ms / own.answered_ms, other.idle_mb / own.idle_mb
    print(f"\nkafkish answers {sooner:.1f} times sooner and idles on 1/{less:.1f} of the memory")


if __name__ == "__main__":
    main()
