"""The classic protocol: members join, one of them assigns, the coordinator hands the assignment out.

One file for each API, with what they share in `rebalance` and the group itself, which knows no requests in flight other
than who waits, in `group`.
"""
