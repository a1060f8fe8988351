"""Apache Kafka's own jars: what tests and benchmarks compare kafkish with.

Fetched once from Maven into the user's cache and used from there. Knows nothing of kafkish.

    python compat-tests/apache_kafka.py      prints the directory, fetching the jars if need be
"""

import fcntl
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

VERSION: Final = "4.3.0"

_POM: Final = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafkish</groupId><artifactId>apache-kafka</artifactId><version>{VERSION}</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-shell</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
"""


class MissingToolError(RuntimeError):
    """Java or Maven is not on this machine."""


def require(*programs: str) -> None:
    """Refuse with a sentence that says what to install."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise MissingToolError(f"{' and '.join(missing)} not found; `make tools` installs them or says how")


@cache
def jars() -> Path:
    """The directory of Kafka's jars and all that they need; fetched (15 s) if this machine does not have it."""
    require("java", "mvn")
    home = Path(os.environ.get("KAFKISH_CACHE", Path.home() / ".cache" / "kafkish")) / f"apache-kafka-{VERSION}"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "complete").exists():
            (home / "pom.xml").write_text(_POM)
            command = ["mvn", "-q", "-B", "-f", str(home / "pom.xml"), "dependency:copy-dependencies"]
            subprocess.run([*command, f"-DoutputDirectory={home / 'lib'}"], check=True, stdout=subprocess.DEVNULL)
            (home / "complete").touch()
    return home / "lib"


def jar(name: str) -> Path:
    """One of Kafka's own jars, by its artifact's name."""
    return jars() / f"{name}-{VERSION}.jar"


def java(*arguments: str, heap: str = "512m") -> list[str]:
    """A command line that runs a class of Kafka's, or a source file that uses its classes."""
    return ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars()}/*", *arguments]


if __name__ == "__main__":
    print(jars())  # noqa: T201
