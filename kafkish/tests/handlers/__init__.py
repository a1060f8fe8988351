"""Handlers, asked over the wire's bytes, on a node whose services are small and real where that is possible."""
