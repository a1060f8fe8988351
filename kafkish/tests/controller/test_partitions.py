"""ElectLeaders, AlterPartition, reassignments and directories: what becomes of partitions."""

from dataclasses import replace
from typing import Any

import pytest

from kafkish.controller.alter_partition import alter_partition
from kafkish.controller.alter_partition_reassignments import alter_partition_reassignments
from kafkish.controller.assign_replicas_to_dirs import assign_replicas_to_dirs
from kafkish.controller.elect_leaders import elect_leaders
from kafkish.controller.list_partition_reassignments import list_partition_reassignments
from kafkish.controller.periodic import balance_leaders, elect_unclean_leaders
from kafkish.metadata.directories import UNASSIGNED
from kafkish.tests.controller.cluster import Cluster, directory
from kafkish.tests.controller.test_alter_configs import SET, alter, change
from kafkish.tests.controller.test_create_topics import create, topic
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages import alter_partition as messages
from kafkish_protocol.messages import assign_replicas_to_dirs as dirs
from kafkish_protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkish_protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafkish_protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kafkish_protocol.types import Uuid

PREFERRED, UNCLEAN = 0, 1


def a_cluster(*assigned: list[int], **options: Any) -> Cluster:
    """Brokers 1 to 4, and a topic with these replicas."""
    cluster = Cluster(1, 2, 3, 4, **options)
    create(cluster, topic("t", assigned=list(assigned) or [[1, 2, 3]]))
    return cluster


def fence(cluster: Cluster, *broker_ids: int) -> None:
    for broker_id in broker_ids:
        cluster.heartbeat(broker_id, want_fence=True)


class TestElectLeaders:
    def elect(self, cluster: Cluster, kind: int, *indexes: int, version: int = 2) -> list[tuple[int, int]]:
        request = ElectLeadersRequest(
            election_type=kind, topic_partitions=[TopicPartitions(topic="t", partitions=list(indexes))]
        )
        response = cluster.run(elect_leaders, request, version)
        return [(row.partition_id, row.error_code) for row in response.replica_election_results[0].partition_result]

    def test_the_preferred_replica_leads_again_when_it_is_back_in_sync(self) -> None:
        cluster = a_cluster()
        fence(cluster, 1)
        assert cluster.partition("t").leader == 2
        assert self.elect(cluster, PREFERRED, 0) == [(0, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)]
        cluster.heartbeat(1)
        propose_isr(cluster, 2, [2, 3, 1])
        assert self.elect(cluster, PREFERRED, 0) == [(0, 0)]
        assert cluster.partition("t").leader == 1
        assert self.elect(cluster, PREFERRED, 0) == [(0, ErrorCode.ELECTION_NOT_NEEDED)]

    def test_version_0_is_a_preferred_election(self) -> None:
        assert self.elect(a_cluster(), PREFERRED, 0, version=0) == [(0, ErrorCode.ELECTION_NOT_NEEDED)]

    def test_an_unclean_election_takes_anyone_alive(self) -> None:
        cluster = a_cluster([1, 2], elr=False)
        fence(cluster, 2)
        fence(cluster, 1)
        assert (cluster.partition("t").leader, cluster.partition("t").isr) == (-1, (1,))
        assert self.elect(cluster, UNCLEAN, 0) == [(0, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)]
        cluster.heartbeat(2)
        assert cluster.partition("t").leader == -1
        assert self.elect(cluster, UNCLEAN, 0) == [(0, 0)]
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.leader_recovery_state) == (2, (2,), 1)
        assert self.elect(cluster, UNCLEAN, 0) == [(0, ErrorCode.ELECTION_NOT_NEEDED)]

    def test_unknown_topics_and_partitions_and_types(self) -> None:
        cluster = a_cluster()
        assert self.elect(cluster, PREFERRED, 7) == [(7, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
        assert self.elect(cluster, 5, 0) == [(0, ErrorCode.INVALID_REQUEST)]

    def test_all_partitions_when_none_are_named_and_only_those_in_need(self) -> None:
        cluster = a_cluster([1, 2], [2, 1], [1, 2])
        fence(cluster, 1)
        cluster.heartbeat(1)
        propose_isr(cluster, 2, [2, 1])
        response = cluster.run(elect_leaders, ElectLeadersRequest(topic_partitions=None))
        (result,) = response.replica_election_results
        assert [(row.partition_id, row.error_code) for row in result.partition_result] == [(0, 0), (2, 80)]
        assert [cluster.partition("t", index).leader for index in range(3)] == [1, 2, 2]


def propose_isr(cluster: Cluster, leader: int, isr: list[int], index: int = 0, version: int = 3, **changes: Any) -> Any:
    """What the leader says; the answer for the partition."""
    found = cluster.image.topics.by_name["t"]
    partition = found.partitions[index]
    wanted = messages.AlterPartitionRequestPartitionData(
        partition_index=index,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        new_isr=isr if version < 3 else [],
        new_isr_with_epochs=[
            messages.BrokerState(broker_id=id, broker_epoch=cluster.image.brokers[id].epoch) for id in isr
        ]
        if version >= 3
        else [],
        leader_recovery_state=partition.leader_recovery_state,
    )
    asked = messages.AlterPartitionRequestTopicData(topic_id=found.id, partitions=[replace(wanted, **changes)])
    request = messages.AlterPartitionRequest(
        broker_id=leader, broker_epoch=cluster.image.brokers[leader].epoch, topics=[asked]
    )
    return cluster.run(alter_partition, request, version).topics[0].partitions[0]


class TestAlterPartition:
    @pytest.mark.parametrize("version", [2, 3])
    def test_a_leader_shrinks_and_grows_the_isr(self, version: int) -> None:
        cluster = a_cluster()
        row = propose_isr(cluster, 1, [1, 3], version=version)
        assert (row.error_code, row.isr, row.leader_id, row.leader_epoch, row.partition_epoch) == (0, [1, 3], 1, 0, 1)
        assert propose_isr(cluster, 1, [1, 3, 2], version=version).isr == [1, 3, 2]
        assert cluster.partition("t").leader_epoch == 0

    def test_what_stays_as_it_is_costs_nothing(self) -> None:
        cluster = a_cluster()
        before = cluster.image
        assert propose_isr(cluster, 1, [1, 2, 3]).error_code == 0
        assert cluster.image is before

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"leader_epoch": 9}, ErrorCode.NOT_CONTROLLER),
            ({"partition_epoch": 9}, ErrorCode.NOT_CONTROLLER),
            ({"leader_epoch": -1}, ErrorCode.FENCED_LEADER_EPOCH),
            ({"partition_epoch": -1}, ErrorCode.INVALID_UPDATE_VERSION),
            ({"partition_index": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            ({"leader_recovery_state": 1}, ErrorCode.INVALID_REQUEST),
            ({"leader_recovery_state": 9}, ErrorCode.INVALID_REQUEST),
        ],
    )
    def test_another_state_of_things_is_refused(self, changes: dict[str, int], code: ErrorCode) -> None:
        assert propose_isr(a_cluster(), 1, [1, 2], **changes).error_code == code

    @pytest.mark.parametrize(
        ("leader", "isr", "code"),
        [
            (2, [2, 1], ErrorCode.INVALID_REQUEST),  # does not lead
            (1, [2, 3], ErrorCode.INVALID_REQUEST),  # not itself in it
            (1, [1, 1], ErrorCode.INVALID_REQUEST),
            (1, [1, 4], ErrorCode.INVALID_REQUEST),  # no replica
        ],
    )
    def test_an_isr_that_is_none_is_refused(self, leader: int, isr: list[int], code: ErrorCode) -> None:
        assert propose_isr(a_cluster(), leader, isr).error_code == code

    def test_who_is_fenced_or_has_restarted_does_not_join(self) -> None:
        cluster = a_cluster()
        fence(cluster, 3)
        assert propose_isr(cluster, 1, [1, 2, 3]).error_code == ErrorCode.INELIGIBLE_REPLICA
        cluster.heartbeat(3)
        old = [messages.BrokerState(broker_id=id, broker_epoch=-1 if id < 3 else 1) for id in (1, 2, 3)]
        assert propose_isr(cluster, 1, [], new_isr_with_epochs=old).error_code == ErrorCode.INELIGIBLE_REPLICA
        assert propose_isr(cluster, 1, [1, 2, 3]).error_code == 0

    def test_unknown_topics_and_brokers(self) -> None:
        cluster = a_cluster()
        partition = messages.AlterPartitionRequestPartitionData(partition_index=0)
        asked = messages.AlterPartitionRequestTopicData(topic_id=Uuid(b"x" * 16), partitions=[partition])
        epoch = cluster.image.brokers[1].epoch
        request = messages.AlterPartitionRequest(broker_id=1, broker_epoch=epoch, topics=[asked])
        answer = cluster.run(alter_partition, request)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
        assert (
            cluster.run(alter_partition, replace(request, broker_epoch=-5)).error_code == ErrorCode.STALE_BROKER_EPOCH
        )

    def test_a_leader_that_was_elected_uncleanly_recovers(self) -> None:
        cluster = a_cluster([1, 2], elr=False)
        fence(cluster, 2, 1)
        cluster.heartbeat(2)
        TestElectLeaders().elect(cluster, UNCLEAN, 0)
        cluster.heartbeat(1)
        assert propose_isr(cluster, 2, [2, 1]).error_code == ErrorCode.INVALID_REQUEST  # recovering, and not alone
        assert propose_isr(cluster, 2, [2, 1], leader_recovery_state=0).leader_recovery_state == 0
        assert cluster.partition("t").isr == (2, 1)


def reassign(cluster: Cluster, replicas: list[int] | None, **options: Any) -> tuple[int, str | None]:
    asked = ReassignableTopic(name="t", partitions=[ReassignablePartition(partition_index=0, replicas=replicas)])
    response = cluster.run(alter_partition_reassignments, AlterPartitionReassignmentsRequest(topics=[asked], **options))
    row = response.responses[0].partitions[0]
    return row.error_code, row.error_message


class TestReassignments:
    def test_replicas_move_when_the_new_ones_are_in_sync(self) -> None:
        cluster = a_cluster([1, 2])
        assert reassign(cluster, [3, 4]) == (0, None)
        moving = cluster.partition("t")
        assert (moving.replicas, moving.adding_replicas, moving.removing_replicas) == ((3, 4, 1, 2), (3, 4), (1, 2))
        listed = list_partition_reassignments(cluster.image, ListPartitionReassignmentsRequest(topics=None))
        assert listed.topics[0].partitions[0].adding_replicas == [3, 4]
        assert propose_isr(cluster, 1, [1, 2, 3]).error_code == 0
        assert propose_isr(cluster, 1, [1, 2, 3, 4]).error_code == ErrorCode.NEW_LEADER_ELECTED
        moved = cluster.partition("t")
        assert (moved.replicas, moved.isr, moved.leader, moved.reassigning) == ((3, 4), (3, 4), 3, False)
        assert moved.leader_epoch == 1
        assert moved.directories == (directory(30), directory(40))
        assert not list_partition_reassignments(cluster.image, ListPartitionReassignmentsRequest(topics=None)).topics

    def test_another_order_is_done_at_once(self) -> None:
        cluster = a_cluster([1, 2])
        assert reassign(cluster, [2, 1]) == (0, None)
        partition = cluster.partition("t")
        assert (partition.replicas, partition.leader, partition.leader_epoch) == ((2, 1), 1, 0)

    def test_fewer_replicas_are_a_new_leader_epoch(self) -> None:
        cluster = a_cluster([1, 2, 3])
        assert reassign(cluster, [1, 2]) == (0, None)
        partition = cluster.partition("t")
        assert (partition.replicas, partition.isr, partition.leader, partition.leader_epoch) == ((1, 2), (1, 2), 1, 1)

    def test_the_number_of_replicas_may_be_fixed(self) -> None:
        cluster = a_cluster([1, 2])
        code, message = reassign(cluster, [1, 2, 3], allow_replication_factor_change=False)
        assert (code, message) == (
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "The replication factor is changed from 2 to 3",
        )
        assert reassign(cluster, [1, 3], allow_replication_factor_change=False) == (0, None)

    def test_a_reassignment_is_cancelled(self) -> None:
        cluster = a_cluster([1, 2])
        reassign(cluster, [3, 4])
        propose_isr(cluster, 1, [1, 2, 3])
        assert reassign(cluster, None) == (0, None)
        partition = cluster.partition("t")
        assert (partition.replicas, partition.isr, partition.reassigning) == ((1, 2), (1, 2), False)
        assert reassign(cluster, None) == (ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None)

    def test_to_cancel_when_only_new_replicas_are_in_sync_takes_an_unclean_election(self) -> None:
        cluster = a_cluster([1, 2])
        reassign(cluster, [3, 4])
        propose_isr(cluster, 1, [1, 3])
        fence(cluster, 2, 1)
        assert cluster.partition("t").isr == (3,)
        assert reassign(cluster, None)[0] == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        alter(cluster, change(2, "t", (SET, "unclean.leader.election.enable", "true")))
        assert reassign(cluster, None) == (0, None)
        assert (cluster.partition("t").replicas, cluster.partition("t").leader) == ((1, 2), -1)

    @pytest.mark.parametrize("replicas", [[], [1, 1], [9]])
    def test_replicas_that_cannot_be_are_refused(self, replicas: list[int]) -> None:
        assert reassign(a_cluster(), replicas)[0] == ErrorCode.INVALID_REPLICA_ASSIGNMENT

    def test_unknown_topics_and_partitions(self) -> None:
        cluster = a_cluster()
        rows = [ReassignablePartition(partition_index=9, replicas=[1])]
        asked = [ReassignableTopic(name=name, partitions=rows) for name in ("t", "x")]
        response = cluster.run(alter_partition_reassignments, AlterPartitionReassignmentsRequest(topics=asked))
        assert [topic.partitions[0].error_message for topic in response.responses] == [
            "Unable to find partition t:9.",
            "Unable to find a topic named x.",
        ]

    def test_listing_names_only_what_moves_and_exists(self) -> None:
        cluster = a_cluster([1], [2])
        reassign(cluster, [3])
        asked = [ListPartitionReassignmentsTopics(name=name, partition_indexes=[0, 1, 9]) for name in ("t", "x")]
        listed = list_partition_reassignments(cluster.image, ListPartitionReassignmentsRequest(topics=asked))
        assert [[p.partition_index for p in topic.partitions] for topic in listed.topics] == [[0]]


class TestEligibleLeaders:
    """KIP-966."""

    def test_who_leaves_a_small_isr_stays_eligible_and_leads_when_all_others_are_gone(self) -> None:
        cluster = a_cluster([1, 2])
        alter(cluster, change(2, "t", (SET, "min.insync.replicas", "2")))
        fence(cluster, 2)
        assert (cluster.partition("t").isr, cluster.partition("t").elr) == ((1,), (2,))
        fence(cluster, 1)
        partition = cluster.partition("t")
        assert (partition.isr, partition.elr, partition.leader, partition.last_known_elr) == ((), (1, 2), -1, (1,))
        cluster.heartbeat(2)
        partition = cluster.partition("t")
        assert (partition.isr, partition.elr, partition.leader, partition.last_known_elr) == ((2,), (1,), 2, ())
        assert partition.leader_recovery_state == 0

    def test_an_isr_that_is_large_enough_needs_no_eligible(self) -> None:
        cluster = a_cluster([1, 2])
        alter(cluster, change(2, "t", (SET, "min.insync.replicas", "2")))
        fence(cluster, 2)
        cluster.heartbeat(2)
        assert propose_isr(cluster, 1, [1, 2]).error_code == 0
        assert cluster.partition("t").elr == ()

    def test_who_stopped_uncleanly_is_not_eligible_but_may_be_the_last_known_leader(self) -> None:
        cluster = a_cluster([1])
        cluster.register(1)
        partition = cluster.partition("t")
        assert (partition.isr, partition.elr, partition.leader, partition.last_known_elr) == ((), (), -1, (1,))
        cluster.heartbeat(1)
        partition = cluster.partition("t")
        assert (partition.isr, partition.leader, partition.leader_recovery_state) == ((1,), 1, 1)

    def test_who_stopped_cleanly_comes_back_as_eligible(self) -> None:
        cluster = a_cluster([1])
        epoch = cluster.image.brokers[1].epoch
        cluster.register(1, previous_epoch=epoch)
        assert (cluster.partition("t").isr, cluster.partition("t").elr) == ((), (1,))
        cluster.heartbeat(1)
        partition = cluster.partition("t")
        assert (partition.isr, partition.leader, partition.leader_recovery_state) == ((1,), 1, 0)

    def test_without_the_feature_the_last_in_sync_stays_in_the_isr(self) -> None:
        cluster = a_cluster([1], elr=False)
        cluster.register(1)
        assert (cluster.partition("t").isr, cluster.partition("t").leader) == ((1,), -1)
        cluster.heartbeat(1)
        assert cluster.partition("t").leader == 1


class TestDirectories:
    """KIP-858."""

    def assign(self, cluster: Cluster, broker_id: int, where: Uuid, topic_id: Uuid, *indexes: int) -> list[int]:
        partitions = [dirs.AssignReplicasToDirsRequestPartitionData(partition_index=index) for index in indexes]
        topics = [dirs.AssignReplicasToDirsRequestTopicData(topic_id=topic_id, partitions=partitions)]
        request = dirs.AssignReplicasToDirsRequest(
            broker_id=broker_id,
            broker_epoch=cluster.image.brokers[broker_id].epoch,
            directories=[dirs.AssignReplicasToDirsRequestDirectoryData(id=where, topics=topics)],
        )
        response = cluster.run(assign_replicas_to_dirs, request)
        return [row.error_code for row in response.directories[0].topics[0].partitions]

    def test_a_broker_with_several_says_where_replicas_are(self) -> None:
        cluster = a_cluster([1, 2], [2, 3], directories_each=2)
        topic_id = cluster.image.topics.by_name["t"].id
        assert cluster.partition("t").directories == (UNASSIGNED, UNASSIGNED)
        assert self.assign(cluster, 1, directory(11), topic_id, 0, 1, 9) == [0, 6, 3]
        assert self.assign(cluster, 1, directory(11), Uuid(b"x" * 16), 0) == [ErrorCode.UNKNOWN_TOPIC_ID]
        assert cluster.partition("t").directories == (directory(11), UNASSIGNED)

    def test_a_replica_in_a_directory_that_is_gone_is_not_in_sync(self) -> None:
        cluster = a_cluster([1, 2], directories_each=2)
        topic_id = cluster.image.topics.by_name["t"].id
        assert self.assign(cluster, 1, directory(99), topic_id, 0) == [0]
        assert (cluster.partition("t").isr, cluster.partition("t").leader) == ((2,), 2)

    def test_a_directory_that_goes_offline_costs_its_replicas_their_place(self) -> None:
        cluster = a_cluster([1, 2], [1, 2], directories_each=2)
        topic_id = cluster.image.topics.by_name["t"].id
        self.assign(cluster, 1, directory(10), topic_id, 0)
        self.assign(cluster, 1, directory(11), topic_id, 1)
        cluster.heartbeat(1, offline_log_dirs=[directory(11)])
        assert [cluster.partition("t", index).leader for index in (0, 1)] == [1, 2]
        assert cluster.image.brokers[1].directories == (directory(10),)
        before = cluster.image
        cluster.heartbeat(1, offline_log_dirs=[directory(11)])
        assert cluster.image is before


class TestPeriodic:
    def test_leaders_are_balanced(self) -> None:
        cluster = a_cluster([1, 2], [1, 2])
        fence(cluster, 1)
        cluster.heartbeat(1)
        propose_isr(cluster, 2, [2, 1], index=1)
        cluster.commit(balance_leaders(cluster.image, cluster.context()))
        assert [cluster.partition("t", index).leader for index in (0, 1)] == [2, 1]
        assert balance_leaders(cluster.image, cluster.context()) == []

    def test_unclean_leaders_are_elected_where_the_topic_allows(self) -> None:
        cluster = a_cluster([1, 2], elr=False)
        fence(cluster, 2, 1)
        cluster.heartbeat(2)
        assert elect_unclean_leaders(cluster.image, cluster.context()) == []
        alter(cluster, change(2, "t", (SET, "unclean.leader.election.enable", "true")))
        cluster.commit(elect_unclean_leaders(cluster.image, cluster.context()))
        assert cluster.partition("t").leader == 2
