"""One Spark and one kafkish for all tests of pipelines: both start once."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafkish.pipelines.embedded import start_embedded_broker
from kafkish.pipelines.model import Pipeline
from kafkish.pipelines.reading import read_pipeline
from kafkish.pipelines.run import run_with
from kafkish.pipelines.session import spark_session
from kafkish.tests.pipelines.topics import Topics

Read = Callable[[str], Pipeline]
Run = Callable[[str], bool]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark on two cores, made for tables that are small and queries that run once."""
    log_path = tmp_path_factory.mktemp("spark") / "spark.log"
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with spark_session("tests", "local[2]", settings, log_path) as session:
        yield session


@pytest.fixture(scope="session")
def topics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    """The topics of a kafkish that all tests share: take fresh names."""
    with start_embedded_broker(tmp_path_factory.mktemp("kafkish")) as address:
        yield Topics(address)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """A pipeline file of this text, read. Its relative paths are below the test's own directory."""

    def read(text: str) -> Pipeline:
        path = tmp_path / "pipeline.yaml"
        path.write_text(text)
        return read_pipeline(path)

    return read


@pytest.fixture
def run(spark: SparkSession, topics: Topics, read: Read) -> Run:
    """Run a pipeline file of this text to its end; whether its checks were good."""
    return lambda text: run_with(spark, read(text), topics.address)
