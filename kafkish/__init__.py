"""A Kafka-wire-compatible broker. The only room with an event loop, sockets and wall time."""

__version__ = "0.1.0"
