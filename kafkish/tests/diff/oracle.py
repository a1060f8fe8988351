"""Starts kafkish and Apache Kafka and runs `kafkish diff` on them, with the arguments given."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import kafkish

sys.path.insert(0, str(Path(kafkish.__file__).parents[1] / "compat-tests"))

import apache_kafka

from kafkish.cli.main import main

NEVER_MS: Final = "1000000000"
SETTINGS: Final = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
    "broker.session.timeout.ms": "60000",
    "log.initial.task.delay.ms": NEVER_MS,  # what brokers delete by themselves, each deletes in its own time
    "log.retention.check.interval.ms": NEVER_MS,
    "log.cleaner.backoff.ms": NEVER_MS,
}


@contextmanager
def running(directory: Path, bug: str = "") -> Iterator[int]:
    """A broker in a process of its own, with a bug if one is wanted; its port."""
    ready = directory / "ready"
    code = f"{bug}\nimport sys\nfrom kafkish.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "serve", "--listen", "127.0.0.1:0"]
    command += ["--data-dir", str(directory / "data"), "--ready-file", str(ready)]
    for name, value in SETTINGS.items():
        command += ["--set", f"{name}={value}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert "ready" in process.stdout.readline()
        yield int(ready.read_text().rpartition(":")[2])
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        ours, theirs = Path(place, "kafkish"), Path(place, "kafka")
        ours.mkdir()
        theirs.mkdir()
        with apache_kafka.ApacheKafka(theirs, ["--standalone"], **SETTINGS) as kafka, running(ours) as port:
            brokers = ["--against", kafka.address, "--broker", f"127.0.0.1:{port}"]
            sys.exit(main(["diff", *brokers, *sys.argv[1:]]))
