"""A standalone Spark cluster on the loopback interface, from what the pyspark wheel brings."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

SPARK_HOME = Path(pyspark.__file__).parent
TIMEOUT_S = 120


@contextmanager
def standalone_cluster(directory: Path, workers: int = 2) -> Iterator[str]:
    """One master and some workers of one core each; the master's URL. Workers keep their files below `work-N`."""
    with ExitStack() as stack:
        master = ["org.apache.spark.deploy.master.Master", "--port", "0", "--webui-port", "0"]
        log = stack.enter_context(_daemon(master, directory / "master.log"))
        url = _wait_for(log, r"Starting Spark master at (spark://\S+)")
        logs = []
        for number in range(workers):
            worker = ["org.apache.spark.deploy.worker.Worker", "--webui-port", "0", "-c", "1", "-m", "1g"]
            worker += ["-d", str(directory / f"work-{number}"), url]
            logs.append(stack.enter_context(_daemon(worker, directory / f"worker-{number}.log")))
        for log in logs:
            _wait_for(log, r"(Successfully registered with master)")
        yield url


@contextmanager
def _daemon(arguments: list[str], log: Path) -> Iterator[Path]:
    environment = {
        **os.environ,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    command = [str(SPARK_HOME / "bin" / "spark-class"), arguments[0], "--host", "127.0.0.1", *arguments[1:]]
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=environment)
    try:
        yield log
    finally:
        process.terminate()
        process.wait()


def _wait_for(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if match := re.search(pattern, log.read_text(errors="replace")):
            return match[1]
        time.sleep(0.05)
    raise TimeoutError(f"{pattern} is not in {log}:\n{log.read_text()[-2_000:]}")
