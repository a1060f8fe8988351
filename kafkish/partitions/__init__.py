"""Partitions that this node holds: what may be appended, what may be read, and who waits for it."""
