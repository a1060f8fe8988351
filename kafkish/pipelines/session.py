"""A Spark session with what every pipeline needs. What Spark itself prints goes to a file.

Under `spark-submit` the session is the one that it prepared: master, packages and logs are its own.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from py4j.java_gateway import is_instance_of
from pyspark import SparkConf, SparkContext
from pyspark import __version__ as pyspark_version
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from kafkish.pipelines.errors import PipelineError

SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",  # dates of an archive must not depend on where it was written
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # INT96 is Spark's own habit
    # Hidden .crc files beside the data would not be renamed together with it when a run is killed.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
LOCAL_SETTINGS: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
    "spark.driver.memory": "2g",
}


def packages() -> str:
    """Spark's connector for Kafka and its Avro functions, of the version of pyspark that is installed."""
    names = ("spark-sql-kafka-0-10", "spark-avro")
    return ",".join(f"org.apache.spark:{name}_2.13:{pyspark_version}" for name in names)


def under_spark_submit() -> bool:
    """Whether `spark-submit` started this process."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


@contextmanager
def spark_session(name: str, master: str, settings: Mapping[str, str], log_path: Path) -> Iterator[SparkSession]:
    """A session until the block ends."""
    spark = _submitted(name) if under_spark_submit() else _started(name, master, settings, log_path)
    try:
        _require_connector(spark)
        yield spark
    finally:
        spark.stop()


def _submitted(name: str) -> SparkSession:
    builder = SparkSession.builder.appName(name)
    for key, value in SETTINGS.items():
        if key.startswith("spark.sql."):
            builder = builder.config(key, value)
    return builder.getOrCreate()


def _started(name: str, master: str, settings: Mapping[str, str], log_path: Path) -> SparkSession:
    conf = SparkConf(loadDefaults=False)
    on_loopback = master.startswith(("local", "spark://127.", "spark://localhost"))
    if on_loopback:  # Python steps on this machine run in this Python, which has what they import
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = {**SETTINGS, **(LOCAL_SETTINGS if on_loopback else {}), "spark.jars.packages": packages(), **settings}
    for key, value in chosen.items():
        conf.set(key, value)
    conf.setMaster(master).setAppName(name)
    try:
        with log_path.open("ab") as log:
            gateway = launch_gateway(conf, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]  # pyspark's own
        return SparkSession(SparkContext(conf=conf, gateway=gateway))
    except (PySparkException, OSError) as error:
        raise PipelineError(f"Spark did not start: {_why(log_path, error)}") from None
    except Exception as error:  # py4j wraps what Java threw in its own types
        if not hasattr(error, "java_exception"):
            raise
        first = str(error.java_exception.getMessage()).splitlines()[0]
        raise PipelineError(f"Spark did not start with --master {master}: {first}") from None


def _why(log_path: Path, error: Exception) -> str:
    """The line of Spark's log that a person needs."""
    lines = log_path.read_text(errors="replace").splitlines()
    if any("unresolved dependency" in line or "UNRESOLVED DEPENDENCIES" in line for line in lines):
        return (
            f"its packages {packages()} cannot be fetched. They come from Maven Central at the first run; "
            "behind a proxy or offline, give --conf spark.jars=... or --conf spark.jars.ivySettings=..."
        )
    told = [line for line in lines if "Exception" in line or "Error" in line]
    return told[0].strip() if told else str(error)


def _require_connector(spark: SparkSession) -> None:
    """Without the connector's jar Spark says something about data sources; say it plainly."""
    gateway = spark.sparkContext._gateway
    jvm = spark.sparkContext._jvm
    assert gateway is not None
    assert jvm is not None
    name = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
    try:
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        assert is_instance_of(gateway, loader.loadClass(name), "java.lang.Class")
    except Exception:
        raise PipelineError(
            f"Spark has no connector for Kafka: give spark-submit the option --packages {packages()}"
        ) from None
