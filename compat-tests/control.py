"""Requests that many tests need, each as one function over a `Wire`. Every one says what it asked when it fails."""

from typing import Any, Final
from uuid import UUID

import kafka.errors
from kafka.protocol.admin import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    IncrementalAlterConfigsRequest,
)
from kafka.protocol.consumer import FetchRequest, HeartbeatRequest, ListOffsetsRequest
from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest
from kafka.protocol.producer import InitProducerIdRequest, ProduceRequest
from waiting import until
from wire import Wire

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
NO_TOPIC_ID: Final = UUID(int=0)
MESSAGE_TOO_LARGE, OFFSET_METADATA_TOO_LARGE, REBALANCE_IN_PROGRESS = 10, 12, 27
RETRY_COORDINATOR: Final = (14, 15, 16, 51)  # loads, is not there, is not here, is busy with the last transaction


def name_of(error_code: int) -> str:
    return f"{error_code} {kafka.errors.for_code(error_code).__name__}"


def expect(error_code: int, asked: str) -> None:
    assert error_code == 0, f"{asked}: {name_of(error_code)}"


# -- topics


def create_topic(wire: Wire, name: str, partitions: int = 1, configs: dict[str, str] | None = None) -> None:
    """Create a topic that keeps records of any age, and wait until it can be used."""
    wanted = {"retention.ms": "-1", **(configs or {})}
    entry = CreateTopicsRequest.CreatableTopic
    topic = entry(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[entry.CreatableTopicConfig(name=key, value=value) for key, value in wanted.items()],
    )
    response = wire.send(CreateTopicsRequest(topics=[topic], timeout_ms=20_000, validate_only=False), 7)
    expect(response.topics[0].error_code, f"create {name} ({response.topics[0].error_message})")
    wait_for_partitions(wire, name, partitions)


def wait_for_partitions(wire: Wire, topic: str, count: int) -> None:
    """CreateTopics is answered before Metadata knows the topic, and Metadata before the leader takes requests."""

    def led() -> bool:
        return all(list_offset(wire, topic, LATEST, partition).error_code == 0 for partition in range(count))

    until(led, f"{topic} has {count} partitions with leaders")


def metadata(wire: Wire, topic: str, *, create: bool = False, version: int = 12) -> Any:
    """What Metadata answers for one topic."""
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(topic_id=NO_TOPIC_ID, name=topic)],
        allow_auto_topic_creation=create,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )
    return wire.send(request, version).topics[0]


def topic_id(wire: Wire, topic: str) -> UUID:
    found: UUID = metadata(wire, topic).topic_id
    return found


def delete_topic(wire: Wire, name: str) -> None:
    request = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.DeleteTopicState(name=name, topic_id=NO_TOPIC_ID)], timeout_ms=20_000
    )
    expect(wire.send(request, 6).responses[0].error_code, f"delete {name}")
    until(lambda: metadata(wire, name).error_code == 3, f"{name} is gone")


def add_partitions(wire: Wire, name: str, count: int) -> None:
    """Grow the topic to `count` partitions."""
    topic = CreatePartitionsRequest.CreatePartitionsTopic(name=name, count=count, assignments=None)
    response = wire.send(CreatePartitionsRequest(topics=[topic], timeout_ms=20_000, validate_only=False), 3)
    expect(response.results[0].error_code, f"{count} partitions for {name}")
    wait_for_partitions(wire, name, count)


def topic_configs(wire: Wire, topic: str, keys: list[str] | None = None) -> list[Any]:
    """All configs of a topic, or those of these keys."""
    entry = DescribeConfigsRequest.DescribeConfigsResource
    resource = entry(resource_type=2, resource_name=topic, configuration_keys=keys)
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True, include_documentation=True)
    described: list[Any] = wire.send(request, 4).results[0].configs
    return described


def topic_config(wire: Wire, topic: str, key: str) -> Any:
    (config,) = topic_configs(wire, topic, [key])
    return config


def set_topic_config(wire: Wire, topic: str, name: str, value: str) -> None:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    config = resource.AlterableConfig(name=name, config_operation=0, value=value)
    request = IncrementalAlterConfigsRequest(
        resources=[resource(resource_type=2, resource_name=topic, configs=[config])], validate_only=False
    )
    expect(wire.send(request, 1).responses[0].error_code, f"{name}={value} on {topic}")


def delete_records(wire: Wire, topic: str, before_offset: int, partition: int = 0) -> None:
    entry = DeleteRecordsRequest.DeleteRecordsTopic
    part = entry.DeleteRecordsPartition(partition_index=partition, offset=before_offset)
    request = DeleteRecordsRequest(topics=[entry(name=topic, partitions=[part])], timeout_ms=20_000)
    answer = wire.send(request, 2).topics[0].partitions[0]
    expect(answer.error_code, f"delete records of {topic} before {before_offset}")


# -- records


def produce_request(
    topic: str,
    batch: bytes | bytearray,
    partition: int = 0,
    *,
    acks: int = -1,
    transactional_id: str | None = None,
) -> ProduceRequest:
    """One batch for one partition, for versions up to 12, which name topics by name."""
    entry = ProduceRequest.TopicProduceData
    data = entry.PartitionProduceData(index=partition, records=bytes(batch))
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=20_000,
        topic_data=[entry(name=topic, partition_data=[data])],
    )


def produce_response(
    wire: Wire, topic: str, batch: bytes | bytearray, partition: int = 0, *, version: int = 11, **settings: Any
) -> Any:
    """The partition's entry of the response, whatever it says."""
    request = produce_request(topic, batch, partition, **settings)
    return wire.send(request, version).responses[0].partition_responses[0]


def produce(wire: Wire, topic: str, batch: bytes | bytearray, partition: int = 0, **settings: Any) -> int:
    """Append a batch; the offset of its first record."""
    answer = produce_response(wire, topic, batch, partition, **settings)
    expect(answer.error_code, f"produce to {topic}-{partition}")
    base_offset: int = answer.base_offset
    return base_offset


def fetch_request(
    topic: str,
    offset: int,
    partition: int = 0,
    *,
    max_wait_ms: int = 500,
    min_bytes: int = 1,
    max_bytes: int = 50_000_000,
    partition_max_bytes: int = 50_000_000,
    isolation: int = READ_UNCOMMITTED,
    leader_epoch: int = -1,
) -> FetchRequest:
    """A fetch of one partition without a session, for versions up to 12, which name topics by name."""
    entry = FetchRequest.FetchTopic
    part = entry.FetchPartition(
        partition=partition,
        current_leader_epoch=leader_epoch,
        fetch_offset=offset,
        last_fetched_epoch=-1,
        log_start_offset=-1,
        partition_max_bytes=partition_max_bytes,
    )
    return FetchRequest(
        replica_id=-1,
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation,
        session_id=0,
        session_epoch=-1,
        topics=[entry(topic=topic, partitions=[part])],
        forgotten_topics_data=[],
        rack_id="",
    )


def fetch(wire: Wire, topic: str, offset: int, partition: int = 0, *, version: int = 12, **settings: Any) -> Any:
    """The partition's entry of the response, whatever it says."""
    return wire.send(fetch_request(topic, offset, partition, **settings), version).responses[0].partitions[0]


def list_offset(
    wire: Wire,
    topic: str,
    timestamp_ms: int,
    partition: int = 0,
    *,
    isolation: int = READ_UNCOMMITTED,
    leader_epoch: int = -1,
    version: int = 9,
) -> Any:
    """The partition's entry of ListOffsets, whatever it says."""
    entry = ListOffsetsRequest.ListOffsetsTopic
    part = entry.ListOffsetsPartition(
        partition_index=partition, current_leader_epoch=leader_epoch, timestamp=timestamp_ms
    )
    request = ListOffsetsRequest(
        replica_id=-1, isolation_level=isolation, topics=[entry(name=topic, partitions=[part])], timeout_ms=20_000
    )
    return wire.send(request, version).topics[0].partitions[0]


def end_offset(wire: Wire, topic: str, partition: int = 0, isolation: int = READ_UNCOMMITTED) -> int:
    answer = list_offset(wire, topic, LATEST, partition, isolation=isolation)
    expect(answer.error_code, f"end of {topic}-{partition}")
    offset: int = answer.offset
    return offset


def start_offset(wire: Wire, topic: str, partition: int = 0) -> int:
    answer = list_offset(wire, topic, EARLIEST, partition)
    expect(answer.error_code, f"start of {topic}-{partition}")
    offset: int = answer.offset
    return offset


# -- groups


def describe_group(wire: Wire, group: str, version: int = 5) -> Any:
    request = DescribeGroupsRequest(groups=[group], include_authorized_operations=False)
    return wire.send(request, version).groups[0]


def wait_for_group(wire: Wire, group: str) -> None:
    """Wait until the group has a coordinator that has loaded it, as at first use and after a restart."""
    find_coordinator(wire, group, 0)
    until(lambda: describe_group(wire, group).error_code not in RETRY_COORDINATOR, f"the coordinator of {group}")


def heartbeat(wire: Wire, group: str, generation: int, member_id: str, instance_id: str | None = None) -> int:
    """The error code that a member's heartbeat gets."""
    request = HeartbeatRequest(
        group_id=group, generation_id=generation, member_id=member_id, group_instance_id=instance_id
    )
    code: int = wire.send(request, 4).error_code
    return code


# -- coordinators and producers


def find_coordinator(wire: Wire, key: str, kind: int) -> None:
    """Wait until the coordinator of a group (0) or transaction (1) is there; its first use creates its topic."""

    def answers() -> bool:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
        found = wire.send(request, 4).coordinators[0]
        return found.error_code == 0

    until(answers, f"the coordinator of {key}")


def init_producer(
    wire: Wire, transactional_id: str | None = None, *, timeout_ms: int = 60_000, version: int = 4, **current: int
) -> Any:
    """InitProducerId, repeated while the coordinator loads or still ends the last transaction."""

    def asked() -> Any:
        request = InitProducerIdRequest(
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=current.get("producer_id", -1),
            producer_epoch=current.get("producer_epoch", -1),
        )
        answer = wire.send(request, version)
        return None if answer.error_code in RETRY_COORDINATOR else answer

    if transactional_id:
        find_coordinator(wire, transactional_id, 1)
    return until(asked, f"InitProducerId for {transactional_id}")
