"""Every version that a broker advertises is answered for real, in bytes that Kafka's own classes read."""

from collections.abc import Callable, Iterator
from typing import Any

import batches
import control
import pytest
import raw_group
from brokers import Broker
from jvm import JavaError, Jvm
from sweep.requests import REQUESTS, Asked, Names, as_kafka_writes, defaults
from wire import Wire

pytestmark = pytest.mark.kafka


def error_codes(answer: Any) -> Iterator[int]:
    """All error codes in a response, at any depth."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            if name in {"errorCode", "partitionErrorCode"}:
                yield value
            else:
                yield from error_codes(value)
    elif isinstance(answer, list):
        for item in answer:
            yield from error_codes(item)


class Sweep:
    """Sends requests and keeps what was wrong with their answers."""

    def __init__(self, jvm: Jvm, broker: Broker) -> None:
        self.wrong: list[str] = []
        self.sent = 0
        self._jvm, self._address = jvm, broker.address

    def versions(self, api: int, advertised: range) -> range:
        """The advertised versions that Kafka's classes can write: it advertises Produce 0 to 2 for show."""
        return range(max(advertised.start, self._jvm.call("message.lowest", api=api)), advertised.stop)

    def send(self, api: int, version: int, asked: Asked) -> None:
        self.sent += 1
        try:
            answer = self._jvm.call("message.send", api=api, version=version, address=self._address, body=asked.body)
            codes = set(error_codes(answer))
            if asked.errors is not None and not codes <= asked.errors:
                self.wrong.append(f"API {api} v{version}: errors {sorted(codes)}, not {sorted(asked.errors)}")
        except JavaError as error:
            self.wrong.append(f"API {api} v{version}: {error}")


def joined(wire: Wire, group: str) -> dict[str, Any]:
    """A static member of a new group, that may sync, beat and leave."""
    member = raw_group.join(wire, group, "", instance_id="static")
    return {
        "groupId": group,
        "generationId": member.generation_id,
        "memberId": member.member_id,
        "groupInstanceId": "static",
    }


def test_every_advertised_version_is_answered_in_bytes_that_kafka_reads(
    broker: Broker, wire: Wire, topic: str, jvm: Jvm, fresh: Callable[[str], str], show: Callable[[str], None]
) -> None:
    control.produce(wire, topic, batches.values(b"value"))
    group, topic_id = fresh("group"), as_kafka_writes(control.topic_id(wire, topic))
    control.expect(raw_group.commit(wire, group, topic, 0, 1), "commit")
    control.init_producer(wire)
    sweep = Sweep(jvm, broker)
    advertised = wire.api_versions()
    for api, offered in advertised.items():
        for version in sweep.versions(api, offered):
            names = Names(topic, topic_id, group, fresh("fresh"))
            if api in {12, 13, 14}:
                names = Names(topic, topic_id, group, fresh("fresh"), joined(wire, fresh("group")))
            sweep.send(api, version, REQUESTS.get(api, defaults)(names))
    show(f"{len(advertised)} APIs, {sweep.sent} versions answered; {len(sweep.wrong)} wrong")
    assert sweep.wrong == [], "\n".join(sweep.wrong)
