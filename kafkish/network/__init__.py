"""Sockets, frames and back-pressure. Knows nothing of what a request means."""
