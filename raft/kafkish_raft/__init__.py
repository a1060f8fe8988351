"""KRaft as a state machine: no I/O, no clock, no dice of its own."""
