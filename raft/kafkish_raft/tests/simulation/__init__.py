"""A seeded simulation of whole quorums: every fault that the world has to offer, and invariants after every event."""
