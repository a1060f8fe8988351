"""Coordinators: pure state machines whose memory is a compacted partition in Kafka's own format.

A shard coordinates what one partition of its topic holds: `groups/` lives on `__consumer_offsets`. A shard decides and
says what it wants done (`effects`); whoever drives it owns the log, the clock and the connections. No coordinator knows
another one, nor a loop, a socket, a file, the time or dice.
"""
