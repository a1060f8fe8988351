"""Kafka's bytes as Python values, and back. Pure: no event loop, clock, socket or disk."""
