"""The group coordinator: membership and committed offsets of the groups in one partition of `__consumer_offsets`.

`shard.GroupShard` is the way in. Offsets stand apart from membership: `offsets` and the three offset APIs know a group
only by `group.Group`, what any kind of group can answer. `classic/` is the protocol of JoinGroup and SyncGroup.
"""
