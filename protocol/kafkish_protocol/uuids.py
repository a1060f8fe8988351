"""Kafka's text form of a UUID: URL-safe base64 without padding."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from kafkish_protocol.types import Uuid


def format_uuid(uuid: Uuid) -> str:
    """22 characters."""
    return urlsafe_b64encode(uuid).rstrip(b"=").decode()


def parse_uuid(text: str) -> Uuid:
    """Read what `format_uuid` wrote; ValueError for anything else."""
    if len(text) != 22:
        raise ValueError(f"{text!r} is not a UUID: Kafka writes 22 characters of URL-safe base64")
    return Uuid(urlsafe_b64decode(text + "=="))
