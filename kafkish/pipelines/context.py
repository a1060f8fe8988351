"""What the parts of one run share."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from kafkish.pipelines.cluster import Ends, Topic
from kafkish.pipelines.files import Files
from kafkish.pipelines.model import Pipeline
from kafkish.pipelines.printing import Printer


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """What the cluster said of a source's topics before the run."""

    topics: Mapping[str, Topic]
    start: Ends
    end: Ends


@dataclass(frozen=True, slots=True)
class Context:
    """One run of one pipeline."""

    spark: SparkSession
    files: Files
    pipeline: Pipeline
    bootstrap: str
    once: bool
    owner: str = ""
    """The id of the checkpoint, which outputs remember."""
    facts: dict[str, TopicFacts] = field(default_factory=dict)
    tables: dict[str, DataFrame] = field(default_factory=dict)
    printers: list[Printer] = field(default_factory=list)

    def servers(self, own: str) -> str:
        """The address of a source or sink: its own, the command line's, or the file's."""
        return own or self.bootstrap or self.pipeline.bootstrap

    def checkpoint(self, name: str) -> str:
        """Where a sink keeps how far it came."""
        return f"{self.pipeline.checkpoint}/{name}"


def say(text: str) -> None:
    """Tell the person who watches; data goes to standard output, this does not."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
