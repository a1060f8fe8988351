"""Where kafkish answers about configs otherwise than Apache Kafka, on purpose, and why."""

from collections.abc import Mapping

from kafkish.config.alter import Operation, OperationType
from kafkish.config.names import base_name

OWN_PREFIX = "kafkish."
"""DescribeConfigs of a broker has these configs besides Kafka's: kafkish has settings that Kafka has not."""


def reason(operation: Operation) -> str | None:
    """Why an operation on a broker may be answered with another error code; None when it may not."""
    if base_name(operation.name) != operation.name:
        return "kafkish opens its listeners once: it does not pretend to change one while it runs"
    required = operation.name in ("process.roles", "controller.listener.names")
    if required and operation.type in (OperationType.APPEND, OperationType.SUBTRACT):
        return "Kafka fails with UNKNOWN_SERVER_ERROR when it splits a default that is not there"
    return None


def reason_to_start_or_not(changed: Mapping[str, str]) -> str | None:
    """Why kafkish and Kafka's own class may judge broker properties differently; None when they may not."""
    if changed == {"controller.quorum.voters": ""}:
        return "a node that names no quorum is a quorum of one; Kafka wants to be told so"
    if set(changed) == {"metric.reporters"}:
        return "Kafka's class takes any name, and Kafka stops a moment later when it cannot load it"
    return None
