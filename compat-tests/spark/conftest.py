"""One Spark session for all tests, with Spark's own Kafka connector from Maven."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apache_kafka
import pytest
from brokers import Broker
from pyspark import __version__ as spark_version
from pyspark.sql import SparkSession

_POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafkish</groupId><artifactId>spark-kafka</artifactId><version>{spark_version}</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.spark</groupId><artifactId>spark-sql-kafka-0-10_2.13</artifactId>
      <version>{spark_version}</version>
      <exclusions><exclusion><groupId>org.apache.hadoop</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>
  </dependencies>
</project>
"""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Two cores and small plans: the data is small, or is counted only."""
    jars = apache_kafka.from_maven(f"spark-kafka-{spark_version}", _POM)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(map(str, jars.glob("*.jar"))))
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture
def read(spark: SparkSession, broker: Broker) -> Callable[..., Any]:
    """A batch read with the given options."""
    return lambda **options: spark.read.format("kafka").options(**with_address(broker, options)).load()


@pytest.fixture
def stream(spark: SparkSession, broker: Broker) -> Callable[..., Any]:
    """A streaming read with the given options."""
    return lambda **options: spark.readStream.format("kafka").options(**with_address(broker, options)).load()


def with_address(broker: Broker, options: dict[str, Any]) -> dict[str, str]:
    """A broker that cannot serve what it promised fails a query after 20 s, not after Spark's 120."""
    always = {"kafka.bootstrap.servers": broker.address, "kafkaConsumer.pollTimeoutMs": "20000"}
    return {**always, **{name: str(value) for name, value in options.items()}}


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(tmp_path / "checkpoint")
