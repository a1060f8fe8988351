"""The metadata quorum made real: `kafkish_raft` on a disk, on a clock and, in a cluster, on the wire.

    formatting.py      whose a data directory is, and what a new cluster starts from
    vote_file.py       `quorum-state`
    control.py         control records as bytes
    snapshots.py       `<offset>-<epoch>.checkpoint` files
    metadata_log.py    `__cluster_metadata-0`: what the state machine reads, and what its effects change
    quorum.py          drives the state machine and carries out its effects
    follower.py        committed records become images, and whoever listens is told
    snapshotting.py    when to write a snapshot, and what may be deleted behind it
    runtime.py         the active controller: operations, their records (batching.py), their answers
    duties.py          what it does by itself
    local_broker.py    the broker of this process registers with the controller
    telling.py         listeners that fail harm nobody else
    opening.py         all of it from the broker's settings
    describing.py      what DescribeQuorum tells

No event loop, no threads, no sockets: those come as ports. What the log's records mean is the affair of
`kafkish.metadata`; why they are written, that of `kafkish.controller`.
"""
