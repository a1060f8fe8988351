"""Where kafkish differs from Apache Kafka and means to. At most fifteen, each with its reason."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kafkish.diff.compare import Difference
from kafkish.diff.exchange import Silence
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.create_topics import CreateTopicsRequest
from kafkish_protocol.messages.update_features import UpdateFeaturesRequest
from kafkish_protocol.schema import Request
from kafkish_protocol.types import ZERO_UUID


@dataclass(frozen=True, slots=True)
class Deliberate:
    """A difference that is not reported."""

    api: str
    field: str  # the path without positions, as a pattern
    reason: str
    theirs: str = ""  # what Apache Kafka says, as a pattern
    ours: str = ""
    when: Callable[[Any, Difference], bool] = lambda _request, _difference: True

    def covers(self, difference: Difference, request: Request) -> bool:
        """Whether this is that difference."""
        return bool(
            re.fullmatch(self.api, difference.api)
            and self.when(request, difference)
            and re.fullmatch(self.field, difference.field)
            and re.search(self.theirs, text(difference.theirs))
            and re.search(self.ours, text(difference.ours))
        )


def text(value: Any) -> str:
    return str(value)


LARGEST_TIMESTAMP: Final = -3
_NAMES_ONE: Final = "config|feature|Null value|type is not LIST"
UNSERVED_FEATURES: Final = {"group.version", "share.version", "streams.version", "transaction.version"}


def names_unserved_feature(request: Any, _: Difference) -> bool:
    """Whether some feature is to be changed that Kafka has and kafkish does not."""
    return any(update.feature in UNSERVED_FEATURES for update in request.feature_updates)


def names_listeners(request: Any, _: Difference) -> bool:
    """Whether some broker is to listen elsewhere."""
    return any(config.name == "listeners" for resource in request.resources for config in resource.configs)


def has_several_settings(request: Any, _: Difference) -> bool:
    """Whether there is something of which more than one setting can be wrong."""
    match request:
        case UpdateFeaturesRequest():
            return len(request.feature_updates) > 1
        case CreateTopicsRequest():
            return any(len(topic.configs) > 1 for topic in request.topics)
        case _:
            return any(len(resource.configs) > 1 for resource in request.resources)


def says_it_without_java(_: Any, difference: Difference) -> bool:
    """Whether ours is what Kafka has wrapped."""
    return bool(difference.ours) and text(difference.ours) in text(difference.theirs)


def kafka_failed(_: Any, difference: Difference) -> bool:
    """Whether Kafka says that it did not expect this."""
    return bool(getattr(difference.structs[1], "error_code", 0) == ErrorCode.UNKNOWN_SERVER_ERROR)


def fails_over_no_topic(request: Any, difference: Difference) -> bool:
    """Whether a topic's id is zeros, perhaps of one that the session has, and that is too much for Kafka.

    Where it would have waited for records, it never answers.
    """
    named = request.session_epoch > 0 or any(topic.topic_id == ZERO_UUID for topic in request.topics)
    waits = request.max_wait_ms > 0 and isinstance(difference.theirs, Silence)
    return named and (waits or kafka_failed(request, difference))


def fails_over_instance(request: Any, difference: Difference) -> bool:
    """Whether a member has an id and an instance, and that is too much for Kafka."""
    return request.group_instance_id is not None and bool(request.member_id) and kafka_failed(request, difference)


def is_of_deleted_record(request: Any, difference: Difference) -> bool:
    """Whether Kafka's largest timestamp is that of an earlier record than ours."""
    ours, theirs = difference.structs
    asked = any(each.timestamp == LARGEST_TIMESTAMP for topic in request.topics for each in topic.partitions)
    is_later = ours.offset > theirs.offset or ours.offset == -1
    return asked and ours.timestamp < theirs.timestamp and is_later


DELIBERATE: Final = (
    Deliberate(
        "ApiVersions|Produce",  # after a Produce without acknowledgement comes an ApiVersions
        "api_keys",
        "what is not served is not advertised: clients choose what they do by this list",
    ),
    Deliberate(
        "ApiVersions",
        "(supported|finalized)_features",
        "nor are features that need what is not served: they are not there, as in a cluster of an older Kafka",
        theirs="|".join(UNSERVED_FEATURES),
        ours=r"^\d rows$",
    ),
    Deliberate(
        "UpdateFeatures",
        "error_code|error_message|results",
        "so such features cannot be switched on or off either",
        when=names_unserved_feature,
    ),
    Deliberate(
        "(Incremental)?AlterConfigs|CreateTopics|UpdateFeatures",
        ".*error_message",
        "of several wrong settings, ours names the first; Kafka names the one that a hash table gives first",
        theirs=_NAMES_ONE,
        ours=_NAMES_ONE,
        when=has_several_settings,
    ),
    Deliberate(
        "(Incremental)?AlterConfigs",
        r"responses\.error_message",
        "why a broker's config cannot be, without the Java exceptions that Kafka wraps around it",
        theirs="^(Invalid value org.apache.kafka|requirement failed: )",
        when=says_it_without_java,
    ),
    Deliberate(
        "IncrementalAlterConfigs",
        r"responses\.error_(code|message)",
        "an operation that does not exist makes a request an invalid one; Kafka's controller fails over it",
        theirs="^(-1|None)$",
        ours="^42$|^Unknown operations type",
    ),
    Deliberate(
        "(Incremental)?AlterConfigs",
        r"responses\.error_(code|message)",
        "listeners are opened once, at the start, in the way that server.properties says then",
        ours="^42$|^kafkish reads these configs at its start only",
        when=names_listeners,
    ),
    Deliberate(
        "DescribeConfigs",
        r"results\.configs\.documentation",
        "settings are documented in our own words",
    ),
    Deliberate(
        "DescribeConfigs",
        r"results\.configs",
        "settings of kafkish's own, all named kafkish.*, are described too",
        ours=r"\['kafkish\.",
    ),
    Deliberate(
        ".*",
        r".*error_message",
        "where Kafka has only its general words about a malformed request, ours say what is wrong",
        theirs="This most likely occurs because of a request being malformed",
    ),
    Deliberate(
        "Fetch",
        ".*",
        "a topic id of zeros is unknown to us as any other is; Kafka fails over it",
        when=fails_over_no_topic,
    ),
    Deliberate(
        "JoinGroup|SyncGroup",
        "",
        "a request whose member has asked again (27) or has left (25) is answered; Kafka never answers it",
        theirs="Silence",
        ours="error_code=(25|27),",
    ),
    Deliberate(
        "JoinGroup",
        ".*",
        "who was given a member id before it told its instance id is no member we know; Kafka fails over it",
        when=fails_over_instance,
    ),
    Deliberate(
        "DescribeLogDirs",
        r"results\.topics\.partitions\.partition_size",
        "the size of what a broker compressed or wrote for itself is that of its libraries",
    ),
    Deliberate(
        "ListOffsets",
        r"topics\.partitions\.(timestamp|offset|leader_epoch)",
        "the largest timestamp is that of a record that can be read; Kafka's may be of one that was deleted",
        when=is_of_deleted_record,
    ),
)


def explained(difference: Difference, request: Request) -> Deliberate | None:
    """The entry that explains a difference in the answers to a request, if there is one."""
    return next((each for each in DELIBERATE if each.covers(difference, request)), None)
