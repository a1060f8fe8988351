"""Where kafkish differs from Apache Kafka and means to. At most fifteen, each with its reason."""

import re
from dataclasses import dataclass
from typing import Any, Final

from kafkish.diff.compare import Difference


@dataclass(frozen=True, slots=True)
class Deliberate:
    """A difference that is not reported."""

    api: str
    field: str  # the path without positions, as a pattern
    reason: str
    theirs: str = ""  # what Apache Kafka says, as a pattern
    ours: str = ""

    def covers(self, difference: Difference) -> bool:
        """Whether this is that difference."""
        return bool(
            re.fullmatch(self.api, difference.api)
            and re.fullmatch(self.field, difference.field)
            and re.search(self.theirs, text(difference.theirs))
            and re.search(self.ours, text(difference.ours))
        )


def text(value: Any) -> str:
    return str(value)


DELIBERATE: Final = (
    Deliberate(
        "ApiVersions",
        "api_keys",
        "what is not served is not advertised: clients choose what they do by this list",
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
        "error_code|responses",
        "a topic id of zeros is unknown to us as any other is; Kafka fails over it",
        theirs="^-1$|^0 rows$",
        ours=r"^0$|\\x00\\x00\\x00\\x00\\x00",
    ),
    Deliberate(
        "Produce",
        r"responses\.partition_responses\.error_code",
        "a codec that does not exist is an unsupported one to us; Kafka fails over it",
        theirs="^-1$",
        ours="^76$",
    ),
    Deliberate(
        "DescribeLogDirs",
        r"results\.topics\.partitions\.partition_size",
        "the size of what a broker compressed or wrote for itself is that of its libraries",
    ),
    Deliberate(
        "Produce",
        "api_keys",
        "what follows a Produce without acknowledgement is an ApiVersions: see there",
    ),
)


def explained(difference: Difference) -> Deliberate | None:
    """The entry that explains a difference, if there is one."""
    return next((each for each in DELIBERATE if each.covers(difference)), None)
