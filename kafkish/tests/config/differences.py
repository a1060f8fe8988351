"""Where kafkish answers about configs otherwise than Apache Kafka, on purpose, and why."""

from kafkish.config.alter import Operation, OperationType
from kafkish.config.node import base_name

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
