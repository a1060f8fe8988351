"""This node's part of the metadata quorum, as requests ask about it."""

from typing import Final

from kafkish.deferred import Deferred
from kafkish.quorum.describing import ReplicaState, describe_quorum
from kafkish.quorum.quorum import Quorum
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages import describe_quorum as message
from kafkish_protocol.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kafkish_protocol.types import ZERO_UUID, Uuid

_TOPIC: Final = "__cluster_metadata"
_DIRECTORIES_VERSION: Final = 2

_WORDS: Final = {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition."}


class LocalQuorum:
    """Answers what `kafka-metadata-quorum` and ApiVersions want to know."""

    def __init__(self, quorum: Quorum) -> None:
        self._quorum = quorum

    @property
    def kraft_version(self) -> int:
        """The finalized `kraft.version`, which the quorum keeps itself."""
        return self._quorum.raft.history.version

    def describe(self, request: DescribeQuorumRequest, api_version: int) -> Deferred[DescribeQuorumResponse]:
        """The leader's view, if this node leads and the request asks for the one partition that there is."""
        asked = [(topic.topic_name, each.partition_index) for topic in request.topics for each in topic.partitions]
        if asked != [(_TOPIC, 0)]:
            return Deferred.of(_refused(request, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        state = describe_quorum(self._quorum)
        if state is None:
            return Deferred.of(_refused(request, ErrorCode.NOT_LEADER_OR_FOLLOWER))
        partition = message.DescribeQuorumResponsePartitionData(
            leader_id=state.leader_id,
            leader_epoch=state.leader_epoch,
            high_watermark=state.high_watermark,
            current_voters=[_replica(each, api_version) for each in state.voters],
            observers=[_replica(each, api_version) for each in state.observers],
        )
        topic = message.DescribeQuorumResponseTopicData(topic_name=_TOPIC, partitions=[partition])
        response = DescribeQuorumResponse(topics=[topic])
        if api_version >= _DIRECTORIES_VERSION:
            response.nodes = [
                message.Node(
                    node_id=node_id,
                    listeners=[message.Listener(name=name, host=host, port=port) for name, host, port in endpoints],
                )
                for node_id, endpoints in sorted(state.endpoints.items())
            ]
        return Deferred.of(response)


def _replica(state: ReplicaState, api_version: int) -> message.ReplicaState:
    replica = message.ReplicaState(
        replica_id=state.key.id,
        log_end_offset=state.log_end_offset,
        last_fetch_timestamp=state.last_fetch_ms,
        last_caught_up_timestamp=state.last_caught_up_ms,
    )
    if api_version >= _DIRECTORIES_VERSION:
        replica.replica_directory_id = Uuid(state.key.directory_id) if state.key.directory_id else ZERO_UUID
    return replica


def _refused(request: DescribeQuorumRequest, code: ErrorCode) -> DescribeQuorumResponse:
    return DescribeQuorumResponse(
        topics=[
            message.DescribeQuorumResponseTopicData(
                topic_name=topic.topic_name,
                partitions=[
                    message.DescribeQuorumResponsePartitionData(
                        partition_index=each.partition_index, error_code=code, error_message=_WORDS.get(code, "")
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
