"""The active controller: order, group commit, lost leadership, records that do not fit into one batch."""

from functools import partial
from typing import Any

import pytest

from kafkish.controller.operation import ApiError, Context, Result
from kafkish.deferred import Deferred
from kafkish.metadata.delta import ReplayError
from kafkish.metadata.image import ConfigResource, MetadataImage
from kafkish.quorum.describing import describe_quorum
from kafkish.quorum.runtime import Caller
from kafkish.tests.quorum.node import START_MS, Node
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import MetadataRecord, Request
from kafkish_protocol.stored.metadata_settings import ConfigRecord
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord
from kafkish_protocol.types import Uuid
from kafkish_storage.files.memory import MemoryFiles

ANYONE = Caller(api_version=0)


def test_proposals_that_come_together_share_a_sync() -> None:
    node = Node().start()
    assert isinstance(node.files, MemoryFiles)
    synced: list[str] = []
    node.files.on_change = lambda operation, path: synced.append(path) if operation == "sync" else None
    answers = [node.create(f"topic-{number}") for number in range(100)]
    node.world.settle()
    assert all(answer.is_done for answer in answers)
    assert len([path for path in synced if path.endswith(".log")]) == 2


def test_answers_come_in_the_order_of_the_log() -> None:
    node = Node().start()
    order: list[int] = []
    for number in range(5):
        node.create(f"topic-{number}").on_done(partial(_append, order, number))
    node.world.settle()
    assert order == [0, 1, 2, 3, 4]


def _append(order: list[int], number: int, _done: Deferred[Any]) -> None:
    order.append(number)


def test_listeners_see_every_image_in_order_before_the_answer() -> None:
    node = Node().start()
    seen: list[object] = []
    node.quorum.subscribe(lambda update: seen.append(update.after.provenance.offset))
    node.create("a").on_done(lambda _: seen.append("a"))
    node.create("b").on_done(lambda _: seen.append("b"))
    node.world.settle()
    offsets = [each for each in seen if isinstance(each, int)]
    assert offsets == sorted(offsets)
    assert [each for each in seen if each in ("a", "b")] == ["a", "b"]
    assert seen[-1] == "b"
    for earlier, later in zip(node.updates, node.updates[1:], strict=False):
        assert later.before is earlier.after


def test_listener_that_fails_does_not_stop_the_others() -> None:
    node = Node().start()
    node.quorum.subscribe(lambda _update: 1 / 0)
    node.created("a")
    assert node.failures == []
    assert node.updates[-1].after.topic("a") is not None


def test_answer_that_fails_to_be_delivered_is_no_failure_of_the_quorum() -> None:
    node = Node().start()
    node.create("a").on_done(lambda _done: 1 / 0)
    second = node.create("b")
    node.world.settle()
    assert node.failures == []
    assert second.result().topics[0].error_code == 0


def unreplayable(image: MetadataImage, request: Request, context: Context) -> Result[None]:
    return Result([PartitionChangeRecord(topic_id=Uuid(bytes(16)), partition_id=7)], None)


def test_record_that_can_not_be_replayed_is_never_written() -> None:
    node = Node().start()
    end_offset = node.quorum.log.end_offset
    with pytest.raises(ReplayError):
        node.controller.submit(unreplayable, None, ANYONE).result()  # type: ignore[arg-type]  # asks for nothing
    assert node.quorum.log.end_offset == end_offset
    node.world.settle(10_000)
    node.created("a")
    assert node.failures == []


def test_listener_may_submit_at_once() -> None:
    node = Node().start()
    answers = []
    node.quorum.subscribe(lambda update: answers.append(node.create("b")) if update.after.topic("a") else None)
    node.created("a")
    assert node.image.topic("b") is not None
    assert answers[0].result().topics[0].error_code == 0


def test_reader_waits_for_what_it_has_seen() -> None:
    """A refusal because of a topic that is lost again would be a lie."""
    node = Node().start()
    first, second = node.create("a"), node.create("a")
    assert not second.is_done
    node.world.settle()
    assert first.is_done
    assert second.result().topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert node.create("a").is_done


def test_lost_leadership_is_told_to_who_waits_and_the_next_epoch_decides() -> None:
    node = Node().start()
    answer = node.create("a")
    epoch = node.quorum.epoch
    node.quorum.resign(epoch)
    with pytest.raises(ApiError) as raised:
        answer.result()
    assert raised.value.code == ErrorCode.NOT_CONTROLLER
    with pytest.raises(ApiError):
        node.create("refused").result()
    node.world.settle(10_000)
    assert node.quorum.epoch > epoch
    assert node.image.topic("a") is not None  # it was in the log of the only voter
    assert node.image.is_active(1)
    node.created("b")


def big_configs(image: MetadataImage, request: Request, context: Context) -> Result[None]:
    records: list[MetadataRecord] = [
        ConfigRecord(resource_type=2, resource_name="a", name=f"name-{number}", value="x" * 30_000)
        for number in range(400)
    ]
    return Result(records, None)


def test_what_does_not_fit_into_a_batch_still_takes_effect_as_a_whole() -> None:
    node = Node().start()
    node.created("a")
    answer = node.controller.submit(big_configs, None, ANYONE)  # type: ignore[arg-type]  # asks for nothing
    node.updates.clear()
    node.world.settle(1_000)
    assert answer.is_done
    with_configs = [len(update.after.configs.get(ConfigResource(2, "a"), {})) for update in node.updates]
    assert set(with_configs) <= {0, 400}
    assert with_configs[-1] == 400
    again = Node(node.files, seed=2).start()
    assert again.image.configs == node.image.configs


def test_transaction_that_a_crash_cut_in_half_never_happened() -> None:
    node = Node().start()
    node.created("a")
    log = node.quorum.log
    node.controller.submit(big_configs, None, ANYONE)  # type: ignore[arg-type]  # asks for nothing
    node.world.settle(1_000)
    cut_offset = next(batch.base_offset for batch in log.read(log.end_offset - 2, log.end_offset))
    log.log.truncate_to(cut_offset, START_MS)
    again = Node(node.files, seed=2).start()
    assert again.image.config(2, "a") == {}
    again.created("b")


def test_the_leader_describes_itself() -> None:
    node = Node().start()
    node.created("a")
    state = describe_quorum(node.quorum)
    assert state is not None
    assert (state.leader_id, state.leader_epoch) == (1, 1)
    assert state.high_watermark == node.quorum.log.end_offset
    [voter] = state.voters
    assert voter.key == node.identity.replica_key
    assert voter.log_end_offset == node.quorum.log.end_offset
    assert voter.last_fetch_ms == voter.last_caught_up_ms == node.world.wall_ms()
    assert state.observers == []


def test_who_does_not_lead_describes_nothing() -> None:
    assert describe_quorum(Node().quorum) is None
