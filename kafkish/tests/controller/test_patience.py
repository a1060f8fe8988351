"""Which requests wait for the controller only for so long. `compat-tests/clients/test_timeouts.py` has it of Kafka."""

import pytest

from kafkish.controller.patience import patience_ms
from kafkish_protocol.messages import alter_partition_reassignments as reassign
from kafkish_protocol.messages import elect_leaders as elect
from kafkish_protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_protocol.messages.update_features import UpdateFeaturesRequest
from kafkish_protocol.schema import Request
from kafkish_protocol.types import Uuid

A, B = CreatableTopic(name="a"), CreatableTopic(name="b")
ID = Uuid(b"i" * 16)

WAIT: list[Request] = [
    CreateTopicsRequest(topics=[A]),
    CreateTopicsRequest(topics=[A, A, B]),
    CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="a")]),
    DeleteTopicsRequest(topic_names=["a"]),
    DeleteTopicsRequest(topics=[DeleteTopicState(name=None, topic_id=ID)]),
    elect.ElectLeadersRequest(topic_partitions=None),
    elect.ElectLeadersRequest(topic_partitions=[elect.TopicPartitions(topic="a", partitions=[0])]),
    reassign.AlterPartitionReassignmentsRequest(topics=[reassign.ReassignableTopic(name="a")]),
]
DECIDED: list[Request] = [
    CreateTopicsRequest(topics=[]),
    CreateTopicsRequest(topics=[A, A]),
    CreateTopicsRequest(topics=[CreatableTopic(name="__cluster_metadata")]),
    CreatePartitionsRequest(topics=[]),
    DeleteTopicsRequest(topics=[DeleteTopicState(name="a")] * 2),
    elect.ElectLeadersRequest(topic_partitions=[]),
    reassign.AlterPartitionReassignmentsRequest(topics=[]),
    UpdateFeaturesRequest(),
]


@pytest.mark.parametrize("request_", WAIT, ids=str)
def test_request_waits_as_long_as_it_says(request_: Request) -> None:
    request_.timeout_ms = 1234  # type: ignore[attr-defined]  # all of these have it
    assert patience_ms(request_) == 1234


@pytest.mark.parametrize("request_", DECIDED, ids=str)
def test_request_that_leaves_nothing_to_decide_does_not_wait(request_: Request) -> None:
    request_.timeout_ms = 0  # type: ignore[attr-defined]
    assert patience_ms(request_) is None
