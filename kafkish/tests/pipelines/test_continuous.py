"""A run that goes on until it is told to stop, and what it shows meanwhile."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from kafkish.tests.pipelines.topics import Record, Topics

pytestmark = pytest.mark.spark

TIMEOUT_S: Final = 120


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline_s, f"{what}: not within {TIMEOUT_S} s"
        time.sleep(0.1)


class Terminal:
    """What a program shows that believes to be watched."""

    def __init__(self) -> None:
        self._ours, self.theirs = pty.openpty()
        os.set_blocking(self._ours, False)
        self._shown = b""

    def shown(self) -> str:
        """All that was written so far."""
        try:
            while data := os.read(self._ours, 1 << 16):
                self._shown += data
        except OSError:  # nothing more, for now or for good
            pass
        return self._shown.decode(errors="replace")

    def close(self) -> None:
        os.close(self._ours)
        os.close(self.theirs)


def values(directory: Path) -> list[int]:
    """What the sink has written."""
    paths = directory.glob("[!.]*.json") if directory.exists() else ()
    return sorted(int(json.loads(line)["value"]) for path in paths for line in path.read_text().splitlines())


def test_a_continuous_run_takes_what_comes_shows_its_lag_and_stops_when_told(topics: Topics, tmp_path: Path) -> None:
    topic, out = topics.make("endless"), tmp_path / "out"
    (tmp_path / "endless.yaml").write_text(f"""
name: endless
checkpoint: checkpoint
sources: [{{name: all, topics: {topic}, decode: string}}]
sinks: [{{name: rows, from: all, files: out, format: json}}]
""")
    command = [sys.executable, "-m", "kafkish.cli.main", "pipeline", "run", "endless.yaml", "--master", "local[2]"]
    command += ["--bootstrap", topics.address]
    terminal = Terminal()
    topics.write(topic, (Record(b"%d" % n) for n in range(100)))
    job = subprocess.Popen([*command, "--continuous"], cwd=tmp_path, stderr=terminal.theirs)
    try:
        wait_for(lambda: values(out) == list(range(100)) or job.poll() is not None, "the first records")
        topics.write(topic, (Record(b"%d" % n) for n in range(100, 150)))
        wait_for(lambda: values(out) == list(range(150)) or job.poll() is not None, "records that came later")
        wait_for(lambda: "150 rows" in terminal.shown() or job.poll() is not None, "progress")
        assert job.poll() is None, terminal.shown()
        job.send_signal(signal.SIGTERM)
        assert job.wait(TIMEOUT_S) == 0, terminal.shown()
        assert "lag 0" in terminal.shown()
    finally:
        job.kill()
        job.wait()
        terminal.close()
    topics.write(topic, [Record(b"150")])
    subprocess.run([*command, "--once"], cwd=tmp_path, check=True, capture_output=True, timeout=TIMEOUT_S)
    assert values(out) == list(range(151)), "a later run goes on where the first was stopped"
