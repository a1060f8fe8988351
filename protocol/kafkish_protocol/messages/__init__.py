"""Requests and responses, one module for each API, named as Kafka names it."""
