"""Bounds on what a decoder may be asked to build, checked before anything is allocated."""

from typing import Final

MAX_STRING_BYTES: Final = 32_767
"""Kafka's own limit, also where the length is a varint."""

MAX_TAGS_PER_STRUCT: Final = 32
"""Kafka has no limit (CVE-2026-111115). No struct of Kafka 4.3 has more than 9 tags."""

MAX_ELEMENTS_PER_MESSAGE: Final = 50_000
"""Array elements in one message, all arrays together (CVE-2026-111108). Bounds the time to decode, too."""
