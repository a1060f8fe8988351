"""Requests that a broker passes on to the controller."""

from typing import Any

import pytest

from kafkish.handlers.registry import REGISTRY
from kafkish.tests.handlers.node import NodeUnderTest
from kafkish.tests.handlers.test_errors import codes
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkish_protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_protocol.messages.describe_quorum import DescribeQuorumRequest
from kafkish_protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafkish_protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafkish_protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kafkish_protocol.schema import Request

REASSIGN = ReassignableTopic(name="t", partitions=[ReassignablePartition(partition_index=0, replicas=[2])])
REQUESTS: list[Request] = [
    CreateTopicsRequest(topics=[CreatableTopic(name="new", num_partitions=2, replication_factor=1)]),
    DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], topic_names=["t"]),
    CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="t", count=3, assignments=None)]),
    ElectLeadersRequest(topic_partitions=[TopicPartitions(topic="t", partitions=[0])]),
    AlterPartitionReassignmentsRequest(topics=[REASSIGN]),
    UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey(feature="no.such.feature", max_version_level=1)]),
    UnregisterBrokerRequest(broker_id=7),
]
EVERY_VERSION = [
    pytest.param(request, version, id=f"{type(request).__name__}-{version}")
    for request in REQUESTS
    for version in REGISTRY[ApiKey(request.schema.api_key or 0)].versions
]


def as_version(request: Any, version: int) -> Request:
    """Without the fields that this version does not have."""
    if isinstance(request, DeleteTopicsRequest):
        by_id = version >= 6
        return DeleteTopicsRequest(topics=request.topics if by_id else [], topic_names=[] if by_id else ["t"])
    made: Request = request
    return made


@pytest.fixture
def node() -> NodeUnderTest:
    made = NodeUnderTest(1, 2)
    made.create("t")
    return made


@pytest.mark.parametrize(("request_", "version"), EVERY_VERSION)
def test_the_controller_gets_what_the_client_sent_in_its_version(
    node: NodeUnderTest, request_: Request, version: int
) -> None:
    request = as_version(request_, version)
    response = node.ask(request, version)
    assert node.controller.submitted == [(request, version)]
    assert ErrorCode.NOT_CONTROLLER not in set(codes(response))


@pytest.mark.parametrize(("request_", "version"), EVERY_VERSION)
def test_a_client_is_told_when_there_is_no_controller(node: NodeUnderTest, request_: Request, version: int) -> None:
    node.controller.is_lost = True
    assert set(codes(node.ask(as_version(request_, version), version))) - {0} == {ErrorCode.NOT_CONTROLLER}


def test_an_answer_waits_until_the_controller_has_done_it(node: NodeUnderTest) -> None:
    node.controller.hold = True
    outcome = node.start(REQUESTS[0], 7)
    assert not outcome.is_done
    node.controller.release()
    assert outcome.result().topics[0].error_code == 0
    assert "new" in node.cluster.image.topics.by_name


def test_replicas_on_the_move_are_listed(node: NodeUnderTest) -> None:
    (leader,) = node.cluster.partition("t").replicas
    other = 3 - leader
    move = ReassignableTopic(name="t", partitions=[ReassignablePartition(partition_index=0, replicas=[other])])
    assert node.ask(AlterPartitionReassignmentsRequest(topics=[move])).error_code == 0
    (topic,) = node.ask(ListPartitionReassignmentsRequest()).topics
    (partition,) = topic.partitions
    assert (partition.adding_replicas, partition.removing_replicas) == ([other], [leader])


def test_the_quorum_describes_itself(node: NodeUnderTest) -> None:
    assert node.ask(DescribeQuorumRequest(), 2).error_message == "version 2"
