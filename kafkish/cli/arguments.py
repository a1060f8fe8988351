"""Arguments that several commands take."""

import argparse

from kafkish.config.addresses import Address


def parse_address(text: str) -> Address:
    """Read `host:port`; an IPv6 host stands in brackets."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, such as 127.0.0.1:9092")
    return Address(host.strip("[]"), int(port))
