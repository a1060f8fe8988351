"""Whatever goes wrong, a client gets an answer of its API that its version can read."""

import logging
import random
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from kafkish.deferred import Deferred
from kafkish.handlers.registry import REGISTRY, Disconnect, RequestContext, RequestError, Served
from kafkish.handlers.services import ControllerError
from kafkish.tests.handlers.node import NodeUnderTest
from kafkish_protocol.api import ApiKey, request_class
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafkish_protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafkish_protocol.messages.find_coordinator import FindCoordinatorRequest
from kafkish_protocol.messages.heartbeat import HeartbeatRequest
from kafkish_protocol.messages.init_producer_id import InitProducerIdRequest
from kafkish_protocol.messages.produce import ProduceRequest
from kafkish_protocol.schema import Request, Struct
from kafkish_protocol.tests.samples import sample
from kafkish_protocol.types import Uuid

WITH_LOGS = {
    ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FOR_LEADER_EPOCH, ApiKey.DELETE_RECORDS,
}  # fmt: skip
"""What needs more of a node than there is here."""
EVERY_VERSION = [(key, version) for key, api in sorted(REGISTRY.items()) for version in api.versions]


def codes(struct: Any) -> Iterator[int]:
    """All error codes in a response."""
    for field in struct.schema.fields:
        value = getattr(struct, field.name)
        if field.name == "error_code":
            yield value
        for inner in value if isinstance(value, list) else ():
            if isinstance(inner, Struct):
                yield from codes(inner)


def refuse(request: Request, version: int, code: ErrorCode = ErrorCode.NOT_CONTROLLER) -> Any:
    """The refusal as a client reads it."""
    response = REGISTRY[ApiKey(request.schema.api_key or 0)].refuse(request, version, code, "because")
    assert response is not None
    return type(response).decode(response.encode(version), version)


@pytest.mark.parametrize(("key", "version"), EVERY_VERSION)
def test_every_version_of_every_api_can_tell_of_an_error(key: ApiKey, version: int) -> None:
    dice = random.Random(version)
    told = False
    for _ in range(20):
        request = sample(request_class(key), version, dice)
        assert isinstance(request, Request)
        if isinstance(request, ProduceRequest):
            request.acks = 1  # 0 wants no answer
        found = set(codes(refuse(request, version)))
        assert found <= {0, ErrorCode.NOT_CONTROLLER}
        told = told or ErrorCode.NOT_CONTROLLER in found
    assert told or (key, version) in {(ApiKey.DESCRIBE_LOG_DIRS, 1), (ApiKey.DESCRIBE_LOG_DIRS, 2)}  # have no place


def test_rows_of_a_refusal_name_what_they_refuse() -> None:
    created = refuse(CreateTopicsRequest(topics=[CreatableTopic(name="a"), CreatableTopic(name="b")]), 7)
    assert [(row.name, row.error_code, row.error_message, row.configs) for row in created.topics] == [
        ("a", ErrorCode.NOT_CONTROLLER, "because", []),
        ("b", ErrorCode.NOT_CONTROLLER, "because", []),
    ]
    by_name = refuse(DeleteTopicsRequest(topic_names=["a"]), 5)
    by_id = refuse(DeleteTopicsRequest(topics=[DeleteTopicState(name=None, topic_id=Uuid(b"\x01" * 16))]), 6)
    assert [row.name for row in by_name.responses] == ["a"]
    assert [(row.name, row.topic_id) for row in by_id.responses] == [(None, b"\x01" * 16)]
    elected = refuse(ElectLeadersRequest(topic_partitions=[TopicPartitions(topic="a", partitions=[3])]), 0)
    assert elected.replica_election_results[0].topic == "a"
    assert elected.replica_election_results[0].partition_result[0].partition_id == 3
    fetched = refuse(FetchRequest(topics=[FetchTopic(topic="a", partitions=[FetchPartition(partition=3)])]), 4)
    assert (fetched.responses[0].topic, fetched.responses[0].partitions[0].partition_index) == ("a", 3)
    assert fetched.responses[0].partitions[0].high_watermark == -1


@pytest.mark.parametrize("version", range(7))
def test_a_refused_search_for_a_coordinator_names_no_node(version: int) -> None:
    request = FindCoordinatorRequest(coordinator_keys=["g"]) if version >= 4 else FindCoordinatorRequest(key="g")
    response = refuse(request, version)
    found = response.coordinators[0] if version >= 4 else response
    assert (found.node_id, found.port, found.host) == (-1, -1, "")


# -- handlers that fail


def failing(error: Exception, *, later: bool) -> Served:
    def handler(_: Request, __: RequestContext) -> Deferred[Any]:
        if not later:
            raise error
        answer: Deferred[Any] = Deferred()
        answer.fail(error)
        return answer

    import_module("kafkish.handlers.heartbeat")
    heartbeat = REGISTRY[ApiKey.HEARTBEAT]
    served = Served(ApiKey.HEARTBEAT, heartbeat.versions)
    served.handler, served.refuse = handler, heartbeat.refuse
    return served


def outcome(error: Exception, *, later: bool) -> Any:
    context = RequestContext(
        ApiKey.HEARTBEAT, 4, "client", "203.0.113.9", "PLAINTEXT", "h", 1, NodeUnderTest().services, REGISTRY
    )
    answer = failing(error, later=later).respond(HeartbeatRequest(), context)
    return answer.result() if isinstance(answer, Deferred) else answer


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RequestError(ErrorCode.INVALID_REQUEST), ErrorCode.INVALID_REQUEST),
        (ControllerError("none"), ErrorCode.NOT_CONTROLLER),
        (ZeroDivisionError(), ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_what_a_handler_raises_is_answered(error: Exception, code: ErrorCode, later: bool) -> None:
    assert outcome(error, later=later).error_code == code


@pytest.mark.parametrize("later", [False, True])
def test_a_handler_may_still_have_the_connection_closed(later: bool) -> None:
    with pytest.raises(Disconnect):
        outcome(Disconnect(), later=later)


def test_only_what_nobody_foresaw_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        outcome(RequestError(ErrorCode.INVALID_REQUEST), later=False)
        assert caplog.records == []
        outcome(ZeroDivisionError(), later=True)
    assert "Heartbeat v4 of client at 203.0.113.9 failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text


# -- requests that make no sense


@pytest.mark.parametrize("key", sorted(REGISTRY.keys() - WITH_LOGS))
def test_no_request_however_strange_is_a_surprise(key: ApiKey, caplog: pytest.LogCaptureFixture) -> None:
    node = NodeUnderTest()
    node.create("t")
    dice = random.Random(key)
    for version in [*REGISTRY[key].versions] * 5:
        request = sample(request_class(key), version, dice)
        assert isinstance(request, Request)
        answer = node.start(request, version)
        response = answer.result() if isinstance(answer, Deferred) and answer.is_done else answer
        if not isinstance(response, Deferred):
            assert type(response).decode(response.encode(version), version)
    assert not [record for record in caplog.records if record.name == "kafkish.handlers"]


def test_a_producer_without_a_controller_is_told_to_try_again() -> None:
    node = NodeUnderTest()
    node.producer_ids.ids = None
    response = node.ask(InitProducerIdRequest(transactional_id=None))
    assert (response.error_code, response.producer_id) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1)
