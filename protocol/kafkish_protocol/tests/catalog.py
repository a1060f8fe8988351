"""All messages that this room defines, by Kafka's name."""

import pkgutil
from functools import cache
from importlib import import_module

import kafkish_protocol.messages
import kafkish_protocol.stored
from kafkish_protocol.schema import Message, MessageSchema


@cache
def all_messages() -> dict[str, type[Message]]:
    """Name -> class, for every message in `messages` and `stored`."""
    found: dict[str, type[Message]] = {}
    for package in (kafkish_protocol.messages, kafkish_protocol.stored):
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            for value in vars(import_module(module.name)).values():
                if isinstance(value, type) and issubclass(value, Message) and value.__module__ == module.name:
                    found[value.schema.name] = value
    return found


def all_versions() -> list[tuple[type[Message], int]]:
    """Every message in every version."""
    return [(message, version) for message in all_messages().values() for version in schema(message).versions]


def schema(message: type[Message]) -> MessageSchema:
    """The schema of a message's class."""
    return message.schema
