"""The archive under kill -9: the job dies again and again at random moments, and each record is in the archive once.

make kill-archive
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafkish.pipelines.embedded import start_embedded_broker
from kafkish.tests.pipelines.topics import DAY_MS, Record, Topics

TIMEOUT_S = 900
PARTITIONS = 4
BATCHES = 40
HOUR_MS = 3_600_000


@dataclass(slots=True)
class Outcome:
    """What happened to the job, and what `verify` says of the archive."""

    kills: int = 0
    cut_batches: int = 0
    """Kills that came when a batch was begun and not finished."""
    half_published: int = 0
    """Those of them that came when some of the batch's files were in place."""
    report: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"archive: {self.report['records']:,} records, {self.kills} kills, {self.cut_batches} in the middle of a "
            f"batch, {self.half_published} with a part of its files in place; good: {self.report['good']}"
        )


class Job:
    """The archive job of one topic, in a directory."""

    def __init__(self, topics: Topics, directory: Path, records: int) -> None:
        self.topics, self.directory = topics, directory
        topic = topics.make("killed", PARTITIONS)
        step_ms = max(1, 50 * HOUR_MS // records)  # three days
        topics.write(
            topic, (Record(b"%d" % n, b"key-%d" % (n % 997), None, DAY_MS + n * step_ms) for n in range(records))
        )
        (directory / "job.yaml").write_text(f"""
name: killed
checkpoint: checkpoint
sources: [{{name: all, topics: {topic}, batch_records: {max(1, records // BATCHES)}}}]
sinks: [{{name: archive, from: all, archive: archive}}]
verify:
  - {{topic: {topic}, against: {{archive: archive}}, sequence: CAST(value AS STRING), report: report.json}}
""")

    def start(self) -> subprocess.Popen[bytes]:
        """In a process group of its own, so that Java dies together with Python."""
        command = [sys.executable, "-m", "kafkish.cli.main", "pipeline", "run", "job.yaml", "--master", "local[2]"]
        command += ["--bootstrap", self.topics.address]
        with (self.directory / "job.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.directory, start_new_session=True)

    def begun(self) -> set[str]:
        return self._names("checkpoint/archive/offsets")

    def finished(self) -> set[str]:
        return self._names("checkpoint/archive/commits")

    def runs(self) -> set[str]:
        """The run that stages files now."""
        return self._names(".archive.staging")

    def unfinished_files(self) -> list[Path]:
        """Files in the archive of batches that are not finished."""
        batches = self.begun() - self.finished()
        return [path for batch in batches for path in self.directory.glob(f"archive/*/*/*-batch-{int(batch):08d}-*")]

    def _names(self, directory: str) -> set[str]:
        path = self.directory / directory
        return {name for name in os.listdir(path) if not name.startswith(".")} if path.exists() else set()


def archive_under_kills(topics: Topics, directory: Path, records: int, kills: int, dice: random.Random) -> Outcome:
    """Kill the job so often, then let it end."""
    job, outcome = Job(topics, directory, records), Outcome()
    for left in range(kills, 0, -1):
        kill_once(job, left, dice)
        outcome.kills += 1
        outcome.cut_batches += bool(job.begun() - job.finished())
        outcome.half_published += bool(job.unfinished_files())
        print(f"kill {outcome.kills}: {len(job.finished())} batches finished", flush=True)
    code = job.start().wait(TIMEOUT_S)
    outcome.report = json.loads((directory / "report.json").read_text()) if code < 2 else {}
    assert code == 0, (directory / "job.log").read_text()[-2_000:]
    assert_whole(outcome.report, records)
    return outcome


def assert_whole(report: dict[str, Any], records: int) -> None:
    """A check of nothing is good too: the topic and the archive must both hold what was written."""
    there = sum(part["records_there"] for part in report["partitions"])
    assert (report["good"], report["records"], there) == (True, records, records), report


def kill_once(job: Job, left: int, dice: random.Random) -> None:
    """At a random moment of a random batch, of which enough are kept for the kills that are left."""
    batches = dice.randint(0, max(0, BATCHES - len(job.finished())) // (left + 1))
    before, goal = job.runs(), len(job.finished()) + batches
    process = job.start()
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while not (job.runs() - before and len(job.finished()) >= goal):
            assert process.poll() is None, (job.directory / "job.log").read_text()[-2_000:]
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(dice.uniform(0, 2))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def main() -> int:
    """Run, and tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--kills", type=int, default=10, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kafkish-kill-") as scratch:
        directory = Path(scratch)
        with start_embedded_broker(directory / "data") as address:
            dice = random.Random(options.seed)
            print(archive_under_kills(Topics(address), directory, options.records, options.kills, dice))
    return 0


if __name__ == "__main__":
    sys.exit(main())
