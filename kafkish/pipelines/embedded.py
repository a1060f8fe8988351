"""An embedded kafkish: the `serve` command as a process of this run, which ends with it."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Final

from kafkish import clock
from kafkish.pipelines.errors import PipelineError

START_TIMEOUT_MS: Final = 30_000
STOP_TIMEOUT_S: Final = 30


@contextmanager
def start_embedded_broker(data_dir: Path) -> Iterator[str]:
    """A broker on a free port of the loopback interface; its address."""
    with tempfile.TemporaryDirectory(prefix="kafkish-embedded-") as scratch:
        ready, log_path = Path(scratch) / "ready", Path(scratch) / "log"
        command = [sys.executable, "-m", "kafkish.cli.main", "serve", "--listen", "127.0.0.1:0"]
        command += ["--data-dir", str(data_dir), "--ready-file", str(ready)]
        with log_path.open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            yield _address(process, ready, log_path)
        finally:
            _stop(process)


def _address(process: subprocess.Popen[bytes], ready: Path, log_path: Path) -> str:
    """Wait for the file in which the broker says where it listens."""
    deadline_ms = clock.monotonic_ms() + START_TIMEOUT_MS
    while process.poll() is None and clock.monotonic_ms() < deadline_ms:
        if ready.exists() and (address := ready.read_text().strip()):
            return address
        Event().wait(0.01)
    told = log_path.read_text(errors="replace").strip().splitlines()
    why = told[-1] if told else f"it was not ready after {START_TIMEOUT_MS // 1_000} s"
    raise PipelineError(
        f"the embedded kafkish did not start: {why}\nGive --bootstrap HOST:PORT to use a broker that runs."
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, so that it flushes what it holds; SIGKILL if it does not end."""
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
