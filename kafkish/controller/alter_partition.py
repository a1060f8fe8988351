"""AlterPartition (56): a leader proposes who is in sync (KIP-497).

- A leader that knows a newer epoch than the controller is told NOT_CONTROLLER: this one is the old controller.
- Nobody joins the ISR who is not active, or has restarted since the leader heard from it (version 3, KIP-903).
- The ISR may complete a reassignment, and then another broker may lead: NEW_LEADER_ELECTED, though the change is made.
"""

from kafkish.controller.elections import Wish, change, topic_rules
from kafkish.controller.operation import ApiError, Context, Result, check_broker_epoch
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import NO_LEADER_CHANGE, RECOVERED, RECOVERING, Partition, Topic, changed_partition
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
    BrokerState,
)
from kafkish_protocol.schema import MetadataRecord


def alter_partition(
    image: MetadataImage, request: AlterPartitionRequest, context: Context
) -> Result[AlterPartitionResponse]:
    """Change the ISR of each partition, where the broker leads it and the change is sound."""
    try:
        check_broker_epoch(image, request.broker_id, request.broker_epoch)
    except ApiError as error:
        return Result([], AlterPartitionResponse(error_code=error.code))
    records: list[MetadataRecord] = []
    response = AlterPartitionResponse()
    for asked in request.topics:
        topic = image.topics.by_id.get(asked.topic_id)
        rows = []
        for wanted in asked.partitions:
            try:
                if topic is None:
                    raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
                made, row = alter(image, topic, wanted, request.broker_id, context)
            except ApiError as error:
                made, row = [], failed(wanted, error.code)
            records += made
            rows.append(row)
        response.topics.append(AlterPartitionResponseTopicData(topic_id=asked.topic_id, partitions=rows))
    return Result(records, response, atomic=False)


def alter(
    image: MetadataImage,
    topic: Topic,
    wanted: AlterPartitionRequestPartitionData,
    broker_id: int,
    context: Context,
) -> tuple[list[MetadataRecord], AlterPartitionResponsePartitionData]:
    """One partition: the record, if anything changes, and the state after it."""
    index = wanted.partition_index
    partition = topic.partitions.get(index)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    isr = proposed_isr(wanted, context.api_version)
    check_epochs(partition, wanted, broker_id)
    check_isr(image, partition, isr, wanted.leader_recovery_state)
    rules = topic_rules(image, context, topic)
    wish = Wish(
        isr=[state.broker_id for state in isr],
        leader_recovery_state=wanted.leader_recovery_state,
        election=rules.election,
    )
    record = change(topic.id, index, partition, wish, rules)
    if record is None:
        return [], state_after(index, partition)
    if record.leader not in (broker_id, NO_LEADER_CHANGE):
        return [record], failed(wanted, ErrorCode.NEW_LEADER_ELECTED)
    return [record], state_after(index, changed_partition(partition, record))


def proposed_isr(wanted: AlterPartitionRequestPartitionData, version: int) -> list[BrokerState]:
    """Before version 3 without the epochs of brokers, which are then not compared."""
    if version >= 3:
        return wanted.new_isr_with_epochs
    return [BrokerState(broker_id=broker_id, broker_epoch=-1) for broker_id in wanted.new_isr]


def check_epochs(partition: Partition, wanted: AlterPartitionRequestPartitionData, broker_id: int) -> None:
    """Refuse whoever does not lead, or speaks of another state of the partition."""
    if wanted.leader_epoch > partition.leader_epoch or wanted.partition_epoch > partition.partition_epoch:
        raise ApiError(ErrorCode.NOT_CONTROLLER)
    if wanted.leader_epoch < partition.leader_epoch:
        raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
    if broker_id != partition.leader:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if wanted.partition_epoch < partition.partition_epoch:
        raise ApiError(ErrorCode.INVALID_UPDATE_VERSION)


def check_isr(image: MetadataImage, partition: Partition, isr: list[BrokerState], recovery: int) -> None:
    """Refuse an ISR that is none: the leader and other replicas, each once, all active."""
    ids = [state.broker_id for state in isr]
    if len(set(ids)) < len(ids) or not set(ids) <= set(partition.replicas) or partition.leader not in ids:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if recovery not in (RECOVERED, RECOVERING):
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if recovery == RECOVERING and (len(ids) > 1 or partition.leader_recovery_state == RECOVERED):
        raise ApiError(ErrorCode.INVALID_REQUEST)
    for state in isr:
        broker = image.brokers.get(state.broker_id)
        if broker is None or not broker.active or state.broker_epoch not in (-1, broker.epoch):
            raise ApiError(ErrorCode.INELIGIBLE_REPLICA)


def state_after(index: int, partition: Partition) -> AlterPartitionResponsePartitionData:
    """The row of a partition as the leader should know it now."""
    return AlterPartitionResponsePartitionData(
        partition_index=index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=list(partition.isr),
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )


def failed(wanted: AlterPartitionRequestPartitionData, code: ErrorCode) -> AlterPartitionResponsePartitionData:
    """The row of a partition that stays as it is."""
    return AlterPartitionResponsePartitionData(partition_index=wanted.partition_index, error_code=code)
