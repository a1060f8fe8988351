"""Other versions of librdkafka, for kcat to run with. They are in the wheels of confluent-kafka, by its versions."""

import platform
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

import tooling

# From the oldest that Apache Kafka 4.3 serves to a recent one. The newest is a family of clients.
VERSIONS: Final = ("1.8.2", "1.9.2", "2.3.0", "2.8.2")

_TAGS: Final = ("manylinux2010", "manylinux2014", "manylinux_2_17", "manylinux_2_28")
_PYTHON: Final = "38"  # whichever: nothing of the wheel's Python is used


@cache
def directory(version: str) -> Path:
    """Where `librdkafka.so.1` of this version is. The first time, the wheel is fetched (5 MB)."""
    wanted = f"confluent-kafka=={version}"

    def fetch(home: Path) -> None:
        platforms = [f"--platform={tag}_{platform.machine()}" for tag in _TAGS]
        options = ["-q", "--no-deps", "--only-binary=:all:", f"--python-version={_PYTHON}", *platforms]
        command = [sys.executable, "-m", "pip", "download", *options, "-d", str(home), wanted]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if ended.returncode:
            raise tooling.MissingToolError(f"no wheel of {wanted} for this machine: {ended.stderr[-300:]}")
        (wheel,) = home.glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            name = next(each for each in packed.namelist() if "/librdkafka-" in each)
            (home / "librdkafka.so.1").write_bytes(packed.read(name))

    return tooling.kept(f"librdkafka-{version}", f"{wanted} {platform.machine()}".encode(), fetch)
