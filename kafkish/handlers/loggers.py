"""The levels of this process's loggers, under the names that Kafka's tools have for them (KIP-412).

A level lasts until the process ends: it is not in the metadata.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from kafkish.config.alter import Operation, OperationType
from kafkish.config.types import ConfigError
from kafkish_protocol.error_codes import ErrorCode

ROOT: Final = "root"
LEVELS: Final[Mapping[str, int]] = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


def levels() -> dict[str, str]:
    """The level of every logger that there is."""
    known = logging.root.manager.loggerDict
    named = {name: logger for name, logger in sorted(known.items()) if isinstance(logger, logging.Logger)}
    return {name: _level_name(logger.getEffectiveLevel()) for name, logger in {ROOT: logging.root, **named}.items()}


def alter_levels(changes: Sequence[Operation], node_id: int, name: str, *, validate_only: bool) -> None:
    """Set levels, or have loggers take their parents' again: all of them, or none and a ConfigError."""
    if not name.isdecimal():
        raise _refusal(f"Node id must be an integer, but it is: {name}")
    if int(name) != node_id:
        raise _refusal(f"Unexpected node id. Expected {node_id}, but received {name}")
    known = levels()
    for change in changes:
        _check(change, known)
    if not validate_only:
        for change in changes:
            level = logging.NOTSET if change.type == OperationType.DELETE else LEVELS[change.value or ""]
            (logging.root if change.name == ROOT else logging.getLogger(change.name)).setLevel(level)


def _check(change: Operation, known: Mapping[str, str]) -> None:
    if change.type not in list(OperationType):
        raise _refusal(f"Unknown operations type {change.type}")
    if change.type not in (OperationType.SET, OperationType.DELETE):
        verb = OperationType(change.type).name
        raise _refusal(f"{verb} operation is not allowed for the BROKER_LOGGER resource")
    if change.type == OperationType.SET and change.value is None:
        raise _refusal(f"Null value not supported for : {change.name}")
    if change.name not in known:
        raise ConfigError(f"Logger {change.name} does not exist!")
    if change.type == OperationType.DELETE:
        if change.name == ROOT:
            raise _refusal("Removing the log level of the root logger is not allowed")
    elif change.value not in LEVELS:
        raise ConfigError(
            f"Cannot set the log level of {change.name} to {change.value} as it is not a supported log level. "
            f"Valid log levels are {', '.join(sorted(LEVELS))}"
        )


def _level_name(level: int) -> str:
    """The name of the nearest level that lets through no more."""
    return next((name for name, number in LEVELS.items() if level <= number), "FATAL")


def _refusal(message: str) -> ConfigError:
    return ConfigError(message, ErrorCode.INVALID_REQUEST)
