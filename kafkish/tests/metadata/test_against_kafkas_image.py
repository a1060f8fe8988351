"""The same records make the same image in Kafka's own classes, and the same snapshot."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import apache_kafka
import pytest

from kafkish.metadata.image import MetadataImage
from kafkish.metadata.loader import MetadataLoader
from kafkish.metadata.records import decode_record, encode_record, record_version
from kafkish.metadata.snapshot import snapshot_records
from kafkish.tests.metadata.stories import Story, draw_batch, first_records
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_security import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from kafkish_protocol.stored.metadata_topics import RemoveTopicRecord

pytestmark = pytest.mark.kafka

SOURCE = Path(__file__).parent / "java" / "MetadataImages.java"
STORIES, BATCHES = 60, 30


def told(seed: int) -> tuple[list[list[MetadataRecord]], MetadataImage]:
    """A story in batches, and the image that it makes."""
    story, loader, batches = Story(seed), MetadataLoader(), [first_records()]
    while True:
        loader.load_batch(batches[-1], base_offset=loader.image.provenance.offset + 1, epoch=1, timestamp_ms=1)
        if len(batches) == BATCHES:
            return batches, loader.image
        batches.append(draw_batch(story, loader.image, story.dice.randint(1, 8)))


CUT_AROUND = (UserScramCredentialRecord, RemoveUserScramCredentialRecord, RemoveTopicRecord)
"""Where Kafka 4.3's deltas go wrong, so that a batch is cut in two for it. ScramDelta loses a credential that is set
beside the removal of the last other one; ConfigurationsDelta keeps configs of a topic that comes and goes at once."""


def as_lines(batch: list[MetadataRecord]) -> str:
    lines = ""
    for record in batch:
        line = encode_record(record, record_version(record, 30)).hex() + "\n"
        lines += f"\n{line}\n" if isinstance(record, CUT_AROUND) else line
    return lines + "\n"


def kafkas_snapshots(stories: list[list[list[MetadataRecord]]]) -> list[list[MetadataRecord]]:
    """What Kafka makes of each story."""
    text = "".join("".join(map(as_lines, batches)) + ".\n" for batches in stories)
    run = subprocess.run(
        apache_kafka.java(str(SOURCE)), input=text, capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stderr[-2000:]
    snapshots = run.stdout.split(".\n")[:-1]
    return [[decode_record(bytes.fromhex(line))[0] for line in lines.splitlines()] for lines in snapshots]


def in_one_order(image: MetadataImage) -> MetadataImage:
    """Kafka sorts a broker's directories."""
    brokers = {
        id: replace(broker, directories=tuple(sorted(broker.directories))) for id, broker in image.brokers.items()
    }
    return image._replace(brokers=brokers)


def test_random_stories_end_in_the_same_image(show: Callable[[str], None]) -> None:
    stories = [told(seed) for seed in range(STORIES)]
    snapshots = kafkas_snapshots([batches for batches, _ in stories])
    for seed, ((_, ours), records) in enumerate(zip(stories, snapshots, strict=True)):
        theirs = MetadataLoader().load_snapshot(records, ours.provenance).after
        assert in_one_order(theirs) == in_one_order(ours), f"seed {seed}"
    count = sum(len(batch) for batches, _ in stories for batch in batches)
    show(f"metadata images: {STORIES} stories of {count} records end in Kafka's own image, none different")


def test_our_snapshot_has_kafkas_order() -> None:
    _, image = told(7)
    ours = list(snapshot_records(image))
    (theirs,) = kafkas_snapshots([[ours]])
    order = list(dict.fromkeys(type(record) for record in ours))
    assert list(dict.fromkeys(type(record) for record in theirs)) == order
    assert len(order) > 8
