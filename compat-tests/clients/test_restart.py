"""Every family of clients goes on when the broker is killed and comes back."""

import threading
from collections.abc import Callable

import control
import pytest
from brokers import Broker
from clients.families.base import Family, Record
from clients.member import member
from waiting import until
from wire import Wire

pytestmark = [pytest.mark.owned, pytest.mark.kafka]

COUNT = 2000


class Writer:
    """An idempotent producer in a thread, that sends numbers one small batch after the other."""

    def __init__(self, family: Family, topic: str) -> None:
        self.sent = 0
        self.error: Exception | None = None
        self._family, self._topic = family, topic
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with self._family.producer({"enable.idempotence": True, "acks": "all"}) as producer:
                while self.sent < COUNT:
                    producer.send(self._topic, [Record(b"%d" % n) for n in range(self.sent, self.sent + 20)])
                    self.sent += 20
        except Exception as error:
            self.error = error

    def finish(self) -> None:
        self._thread.join(120)
        assert self.error is None
        assert self.sent == COUNT


def test_producers_and_groups_survive_a_killed_broker(
    families: list[Family], broker: Broker, make_topic: Callable[..., str], fresh: Callable[[str], str]
) -> None:
    topics = [make_topic() for _ in families]
    groups = [fresh("group") for _ in families]
    writers = [Writer(family, topic) for family, topic in zip(families, topics, strict=True)]
    until(lambda: all(writer.sent >= 100 for writer in writers), "every writer is under way")
    broker.kill()
    broker.start()
    for writer in writers:
        writer.finish()
    for family, topic, group in zip(families, topics, groups, strict=True):
        values = [record.value for record in family.read(topic, COUNT)]
        assert values == [b"%d" % n for n in range(COUNT)], f"{family.name}: lost, doubled or out of order"
        with member(family, group, [topic]) as joined:
            until(lambda joined=joined: len(joined.records) == COUNT, "all records in a group")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_committed_offsets_topics_and_configs_survive(
    families: list[Family], broker: Broker, make_topic: Callable[..., str], group: str, how: str
) -> None:
    topic = make_topic(3, {"max.message.bytes": "123456"})
    for offset, family in enumerate(families):
        family.produce(topic, [Record(b"before", partition=0)])
        with family.consumer({"group.id": f"{group}-{family.name}"}) as consumer:
            consumer.assign([(topic, 1)])
            consumer.commit({(topic, 1): (offset, f"by {family.name}")})
    (broker.stop if how == "stop" else broker.kill)()
    broker.start()
    with Wire(broker.address) as wire:
        control.wait_for_partitions(wire, topic, 3)
        for family in families:
            control.wait_for_group(wire, f"{group}-{family.name}")
    for offset, family in enumerate(families):
        with family.admin() as admin:
            assert admin.group_offsets(f"{group}-{family.name}") == {(topic, 1): (offset, f"by {family.name}")}
            assert admin.describe_configs("topic", topic)["max.message.bytes"].value == "123456"
            assert len(admin.describe_topic(topic)) == 3
        assert len(family.read(topic, len(families))) == len(families)
