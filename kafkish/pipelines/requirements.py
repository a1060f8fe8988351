"""What a job needs on this machine, looked for before Spark starts: pyspark, Java, a broker that answers."""

import importlib.util
import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Final

from kafkish.pipelines.errors import PipelineError, Where

MIN_JAVA: Final = 17
CONNECT_TIMEOUT_S: Final = 5


def require_spark() -> None:
    """Refuse, with what to install, when pyspark or a fitting Java is missing."""
    if importlib.util.find_spec("pyspark") is None:
        raise PipelineError("pipelines run on Spark, and pyspark is not installed: pip install 'kafkish[spark]'")
    advice = f"Spark needs Java {MIN_JAVA} or newer; install it (Debian: apt install openjdk-{MIN_JAVA}-jre-headless)"
    java = find_java()
    if java is None:
        raise PipelineError(f"no Java found, neither in JAVA_HOME nor in PATH. {advice}.")
    try:
        command = [java, "-version"]
        shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PipelineError(f"{java} does not run: {error}. {advice}.") from None
    match = re.search(r'version "(?:1\.)?(\d+)', shown)
    if match is None or int(match[1]) < MIN_JAVA:
        found = f"is Java {match[1]}" if match else "does not say which Java it is"
        raise PipelineError(f"{java} {found}. {advice}, or point JAVA_HOME to it.")


def find_java() -> str | None:
    """The Java that Spark's launcher takes."""
    if home := os.environ.get("JAVA_HOME"):
        java = Path(home) / "bin" / "java"
        return str(java) if java.exists() else None
    return shutil.which("java")


def require_reachable(bootstrap: str, where: Where | None = None) -> None:
    """Refuse, with the reason, when none of a cluster's servers takes a connection."""
    reasons = []
    for server in bootstrap.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_TIMEOUT_S):
                return
        except OSError as error:
            reasons.append(f"{server.strip()}: {error.strerror or error}")
    text = f"no broker answers ({'; '.join(reasons)}). Is it running, and is this its address?"
    raise where.error(text) if where else PipelineError(text)
