"""What Spark throws, in a sentence: what is wrong and what to do. The stack trace stays in Spark's log."""

import re
from typing import Final

from kafkish.pipelines.errors import PipelineError

_OTHER_CHECKPOINT: Final = "Use another checkpoint directory for the changed pipeline."

KNOWN: Final = (
    (
        # Spark shows plans too, which have the words of `decode.failing` without a place.
        r"bad record: ((?:topic [\w.-]+, partition \d+, offset \d+|file \S+): [^\n]*?)(?: SQLSTATE|\n|$)",
        r"bad record: \1. Nothing was lost: give the source a `quarantine`, or mend its schema, and run again.",
    ),
    (
        r"may have been lost|offset was changed|may have been missed|are gone\.",
        "records that were not read yet are gone from the topic (by retention, or the topic was made again). "
        "To go on without them, give the source `options: {failOnDataLoss: false}`.",
    ),
    (
        r"There are \[(\d+)\] sources in the checkpoint offsets and now there are \[(\d+)\]",
        rf"the checkpoint was made when this sink had \1 sources; now it has \2. {_OTHER_CHECKPOINT}",
    ),
    (
        r"STATE_STORE_\w*SCHEMA_NOT_COMPATIBLE|doesn't match to the schema for existing state",
        f"the checkpoint holds the state of other steps: the sink's aggregate or join was changed. {_OTHER_CHECKPOINT}",
    ),
    (
        r"Multiple streaming queries are concurrently using|CONCURRENT_STREAM_LOG_UPDATE",
        "another run uses this checkpoint now. Stop it, or wait for it.",
    ),
    (
        r"(?:Topic|Group|Cluster)AuthorizationException: ([^\n]*)",
        r"the cluster does not allow it: \1",
    ),
    (
        r"TimeoutException: ([^\n]*)",
        r"the cluster did not answer in time: \1",
    ),
    (
        r"OutOfMemoryError",
        "Spark ran out of memory. Give it more (--conf spark.driver.memory=4g), or smaller batches (batch_records).",
    ),
    (r"No space left on device", "the disk is full."),
)
"""What is looked for in Spark's message, and what is said instead."""


def explained(error: BaseException, name: str) -> PipelineError:
    """A sink's failure as one message."""
    text = str(error)
    for pattern, sentence in KNOWN:
        if match := re.search(pattern, text):
            return PipelineError(f"{name}: {match.expand(sentence)}")
    return PipelineError(f"{name}: {first_sentence(error)}")


def first_sentence(error: BaseException) -> str:
    """The first line of what Spark says, without its codes, plans and places in Java."""
    text = str(error)
    cause = re.findall(r"(?:Caused by: |^)(?:[a-z]+\.)+([A-Z]\w+(?:Exception|Error): [^\n]+)", text, re.MULTILINE)
    line = next((part.strip() for part in [*cause[-1:], *text.splitlines()] if part.strip()), type(error).__name__)
    line = re.sub(r"^\[[A-Z_.0-9]+\] ", "", line)
    return re.sub(r"\s*SQLSTATE: \w+", "", line).partition(";\n")[0].rstrip(" ;")
