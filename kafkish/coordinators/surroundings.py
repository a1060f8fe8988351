"""What a coordinator is given for all its terms."""

from collections.abc import Callable
from typing import NamedTuple

from kafkish.coordinators.inputs import Now
from kafkish.timers import Timers
from kafkish_protocol.records import Compression


class RuntimeSettings(NamedTuple):
    """What an operator can set. The comments have Kafka's names."""

    write_timeout_ms: int = 5_000  # offsets.commit.timeout.ms
    load_buffer_bytes: int = 5_242_880  # offsets.load.buffer.size
    compression: Compression = Compression.NONE  # offsets.topic.compression.codec


class Surroundings(NamedTuple):
    """What a term may use of its node."""

    settings: RuntimeSettings
    timers: Timers
    now: Callable[[], Now]
