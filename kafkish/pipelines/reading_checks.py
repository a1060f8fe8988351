"""The `verify` part of a pipeline file."""

from collections.abc import Mapping
from typing import Final

from kafkish.pipelines.document import Field
from kafkish.pipelines.model import EARLIEST, LATEST, Check, Side
from kafkish.pipelines.reading_sources import read_options, read_position

SIDE_FIELDS: Final = ("topic", "archive", "bootstrap", "from", "to", "coordinates", "options")
FIELDS: Final = (*SIDE_FIELDS, "name", "against", "key", "sequence", "gaps", "report")


def read_check(field: Field) -> Check:
    """One entry of `verify`."""
    fields = field.fields(FIELDS, required=("topic",))
    subject = read_side(fields, field)
    name = fields["name"].label() if "name" in fields else subject.topic
    return Check(
        name,
        fields["topic"].where,
        subject,
        read_against(fields["against"], subject) if "against" in fields else None,
        fields["key"].verbatim() if "key" in fields else "key",
        fields["sequence"].verbatim() if "sequence" in fields else "",
        "gaps" in fields and fields["gaps"].choice(("fail", "allow")) == "allow",
        fields["report"].file() if "report" in fields else "",
    )


def read_against(field: Field, subject: Side) -> Side:
    """What the subject is compared with; the topic has the same name unless it says otherwise."""
    fields = field.fields(SIDE_FIELDS)
    return read_side(fields, field, subject.topic)


def read_side(fields: Mapping[str, Field], whole: Field, topic: str = "") -> Side:
    """A range of a topic, or an archive."""
    if "archive" in fields:
        for name in ("bootstrap", "options"):
            if name in fields:
                raise fields[name].error("an archive is files; it has no brokers")
    coordinates = fields["coordinates"].choice(("own", "source")) if "coordinates" in fields else "own"
    return Side(
        fields["topic"].where if "topic" in fields else whole.where,
        fields["topic"].topic() if "topic" in fields else topic,
        fields["archive"].file() if "archive" in fields else "",
        fields["bootstrap"].servers() if "bootstrap" in fields else "",
        read_position(fields["from"]) if "from" in fields else EARLIEST,
        read_position(fields["to"]) if "to" in fields else LATEST,
        coordinates == "source",
        read_options(fields),
    )
