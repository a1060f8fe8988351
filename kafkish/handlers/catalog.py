"""Every handler: importing one registers it."""

from kafkish.handlers import (  # noqa: F401
    alter_partition_reassignments,
    api_versions,
    create_partitions,
    create_topics,
    delete_groups,
    delete_topics,
    describe_groups,
    elect_leaders,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    list_groups,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
    unregister_broker,
)
