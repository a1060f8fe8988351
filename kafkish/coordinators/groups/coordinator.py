"""The coordinator of groups as the handlers of requests see it: one, however many shards it has on this node."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, cast

from kafkish.coordinators.groups.routing import is_about_several, merge, merge_lists, partition_for_group, split
from kafkish.coordinators.groups.settings import GroupSettings
from kafkish.deferred import Deferred, gather
from kafkish_protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Uuid

if TYPE_CHECKING:
    from kafkish.coordinators.groups.shard import GroupShard
    from kafkish.coordinators.runtime import Runtime
    from kafkish.coordinators.shard_log import ShardLog
    from kafkish.coordinators.surroundings import Surroundings

TOPIC = "__consumer_offsets"


class GroupCoordinator:
    """`partitions` is how many `__consumer_offsets` has, or will have."""

    def __init__(
        self, partitions: int, settings: GroupSettings, new_id: Callable[[], str], around: "Surroundings"
    ) -> None:
        self._partitions = partitions
        self._settings = settings
        self._new_id = new_id
        self._around = around

    @cached_property
    def _runtime(self) -> "Runtime[GroupShard]":
        """Imported when it is first needed: a broker that starts without groups need not read all about them."""
        from kafkish.coordinators.groups.records import KINDS  # noqa: PLC0415
        from kafkish.coordinators.groups.refusals import refuse_anywhere  # noqa: PLC0415
        from kafkish.coordinators.groups.shard import GroupShard  # noqa: PLC0415
        from kafkish.coordinators.runtime import Runtime  # noqa: PLC0415
        from kafkish.coordinators.term import Kind  # noqa: PLC0415

        def make_shard() -> GroupShard:
            return GroupShard(self._settings, self._new_id)

        return Runtime(Kind(TOPIC, make_shard, KINDS, partial(refuse_anywhere, self._settings)), self._around)

    def partition_of(self, group_id: str, /) -> int:
        """The partition of `__consumer_offsets` that a group belongs to."""
        return partition_for_group(group_id, self._partitions)

    # -- for whoever looks, on any thread

    @property
    def group_count(self) -> int:
        return sum(len(shard.state.groups) for shard in self._runtime.shards)

    def committed_offsets(self) -> Iterator[tuple[str, str, int, int]]:
        """Group, topic, partition and offset of all that is committed."""
        for shard in self._runtime.shards:
            for group_id in list(shard.state.groups):
                for topic, found in list(shard.state.offsets.of_group(group_id).items()):
                    for index, value in list(found.items()):
                        yield group_id, topic, index, value.offset

    # -- requests

    def handle(self, request: Request, api_version: int, client_id: str, client_host: str) -> Deferred[Response]:
        """Answer a request about one group, about several, or about all (ListGroups)."""

        def ask(index: int, part: Request) -> Deferred[Response]:
            return self._runtime.handle(index, part, api_version, client_id, client_host)

        if isinstance(request, ListGroupsRequest):
            lists = gather([ask(index, request) for index in self._runtime.partitions])
            return lists.map(lambda answers: merge_lists(cast("list[ListGroupsResponse]", answers)))
        if not is_about_several(request, api_version):
            return ask(self.partition_of(request.group_id), request)  # type: ignore[attr-defined]  # all others have it
        parts = split(request, self.partition_of)
        if len(parts) == 1:
            return ask(*next(iter(parts.items())))
        return gather([ask(index, part) for index, part in parts.items()]).map(lambda answers: merge(request, answers))

    # -- the cluster

    def elect(self, index: int, leader_epoch: int, shard_log: "ShardLog") -> None:
        """This node leads a partition of `__consumer_offsets`: see `Runtime.elect`."""
        self._runtime.elect(index, leader_epoch, shard_log)

    def resign(self, index: int, leader_epoch: int | None = None) -> None:
        """It does not any more: see `Runtime.resign`."""
        self._runtime.resign(index, leader_epoch)

    def on_topics_deleted(self, topics: Iterable[tuple[str, Uuid]]) -> None:
        """Forget what was committed for topics that are no more."""
        deleted = list(topics)
        self._runtime.do_everywhere(lambda shard, _: shard.on_topics_deleted(deleted))

    def stop(self) -> None:
        """Resign everywhere."""
        self._runtime.stop()
