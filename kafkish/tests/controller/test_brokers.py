"""Brokers come and go: registration, heartbeats, controlled shutdown, fencing, unregistration."""

from dataclasses import replace

import pytest

from kafkish.controller.allocate_producer_ids import allocate_producer_ids
from kafkish.controller.broker_heartbeat import broker_heartbeat
from kafkish.controller.broker_registration import broker_registration
from kafkish.controller.controller_registration import controller_registration
from kafkish.controller.periodic import fence_stale_broker
from kafkish.controller.unregister_broker import unregister_broker
from kafkish.metadata.directories import MIGRATING
from kafkish.metadata.versions import TRANSACTION_VERSION
from kafkish.tests.controller.cluster import CLUSTER_ID, FEATURES, Cluster, directory
from kafkish.tests.controller.test_create_topics import create, topic
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages import controller_registration as controllers
from kafkish_protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from kafkish_protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from kafkish_protocol.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafkish_protocol.types import Uuid

REQUEST = BrokerRegistrationRequest(
    broker_id=1,
    cluster_id=CLUSTER_ID,
    incarnation_id=Uuid(b"i" * 16),
    listeners=[Listener(name="PLAINTEXT", host="h", port=9092, security_protocol=0)],
    features=FEATURES,
    rack="r",
    log_dirs=[directory(10)],
)


class TestRegistration:
    def test_a_new_broker_is_fenced_and_its_epoch_is_the_offset_of_its_registration(self) -> None:
        cluster = Cluster()
        next_offset = cluster.image.provenance.offset + 1
        response = cluster.run(broker_registration, REQUEST)
        broker = cluster.image.brokers[1]
        assert response.broker_epoch == broker.epoch == broker.registration_offset == next_offset
        assert (broker.fenced, broker.rack, broker.directories) == (True, "r", (directory(10),))
        assert [(at.name, at.host, at.port) for at in broker.listeners] == [("PLAINTEXT", "h", 9092)]

    def test_the_same_incarnation_amends_what_it_said_and_keeps_its_epoch(self) -> None:
        cluster = Cluster()
        epoch = cluster.run(broker_registration, REQUEST).broker_epoch
        cluster.heartbeat(1)
        again = cluster.run(broker_registration, replace(REQUEST, rack="other"))
        assert again.broker_epoch == epoch
        assert (cluster.image.brokers[1].rack, cluster.image.brokers[1].fenced) == ("other", False)

    def test_an_id_is_one_brokers_as_long_as_it_is_heard_of(self) -> None:
        cluster = Cluster()
        cluster.run(broker_registration, REQUEST)
        cluster.heartbeat(1)
        other = replace(REQUEST, incarnation_id=Uuid(b"o" * 16))
        assert cluster.run(broker_registration, other).error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
        cluster.now_ms += 9_001
        assert cluster.run(broker_registration, other).error_code == 0
        assert cluster.image.brokers[1].fenced

    @pytest.mark.parametrize(
        ("request_", "code"),
        [
            (replace(REQUEST, cluster_id="other"), ErrorCode.INCONSISTENT_CLUSTER_ID),
            (replace(REQUEST, is_migrating_zk_broker=True), ErrorCode.BROKER_ID_NOT_REGISTERED),
            (replace(REQUEST, log_dirs=[]), ErrorCode.INVALID_REGISTRATION),
            (replace(REQUEST, log_dirs=[MIGRATING]), ErrorCode.INVALID_REGISTRATION),
            (replace(REQUEST, log_dirs=[directory(10)] * 2), ErrorCode.INVALID_REGISTRATION),
            (replace(REQUEST, log_dirs=[directory(20)]), ErrorCode.INVALID_REGISTRATION),  # broker 2 has it
            (replace(REQUEST, features=[]), ErrorCode.INVALID_REGISTRATION),
            (replace(REQUEST, features=FEATURES[:1]), ErrorCode.UNSUPPORTED_VERSION),
        ],
    )
    def test_what_cannot_be_is_refused(self, request_: BrokerRegistrationRequest, code: ErrorCode) -> None:
        cluster = Cluster(2)
        assert cluster.run(broker_registration, request_).error_code == code
        assert 1 not in cluster.image.brokers

    def test_a_broker_that_is_too_old_for_a_feature_is_refused(self) -> None:
        old = Feature(name=TRANSACTION_VERSION, min_supported_version=0, max_supported_version=1)
        others = [feature for feature in FEATURES if feature.name != TRANSACTION_VERSION]
        response = Cluster().run(broker_registration, replace(REQUEST, features=[*others, old]))
        assert response.error_code == ErrorCode.UNSUPPORTED_VERSION

    def test_before_version_3_every_stop_counts_as_unclean(self) -> None:
        cluster = Cluster(1)
        create(cluster, topic("t"))
        epoch = cluster.image.brokers[1].epoch
        cluster.register(1, previous_epoch=epoch, version=2)
        assert cluster.partition("t").elr == ()


class TestHeartbeat:
    def test_a_broker_is_unfenced_when_it_has_replayed_its_registration(self) -> None:
        cluster = Cluster()
        cluster.register(1)
        behind = cluster.heartbeat(1, current_metadata_offset=cluster.image.brokers[1].registration_offset - 1)
        assert (behind.is_caught_up, behind.is_fenced) == (False, True)
        waiting = cluster.heartbeat(1, want_fence=True)
        assert (waiting.is_caught_up, waiting.is_fenced) == (True, True)
        assert not cluster.heartbeat(1).is_fenced
        assert cluster.image.brokers[1].active

    def test_a_broker_that_asks_is_fenced_and_loses_its_leaderships(self) -> None:
        cluster = Cluster(1, 2)
        create(cluster, topic("t", assigned=[[1, 2]]))
        assert cluster.heartbeat(1, want_fence=True).is_fenced
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.leader_epoch) == (2, (2,), 1)

    def test_another_epoch_and_unknown_brokers_are_refused(self) -> None:
        cluster = Cluster(1)
        assert cluster.heartbeat(1, broker_epoch=-7).error_code == ErrorCode.STALE_BROKER_EPOCH
        request = BrokerHeartbeatRequest(broker_id=9, broker_epoch=1)
        assert cluster.run(broker_heartbeat, request).error_code == ErrorCode.STALE_BROKER_EPOCH

    def test_a_heartbeat_that_changes_nothing_writes_nothing(self) -> None:
        cluster = Cluster(1)
        before = cluster.image
        assert not cluster.heartbeat(1).is_fenced
        assert cluster.image is before


class TestControlledShutdown:
    def test_leaders_move_first_and_the_broker_stops_when_all_others_know(self) -> None:
        cluster = Cluster(1, 2)
        create(cluster, topic("t", assigned=[[1, 2]]))
        leaving = cluster.heartbeat(1, want_shut_down=True)
        assert (leaving.should_shut_down, leaving.is_fenced) == (False, False)
        assert cluster.image.brokers[1].in_controlled_shutdown
        assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2,))
        moved_offset = cluster.image.provenance.offset
        cluster.heartbeat(2, current_metadata_offset=moved_offset - 1)
        assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
        cluster.heartbeat(2, current_metadata_offset=moved_offset)
        assert cluster.heartbeat(1, want_shut_down=True).should_shut_down
        assert cluster.image.brokers[1].fenced

    def test_a_broker_that_leads_nothing_stops_at_once(self) -> None:
        cluster = Cluster(1, 2)
        create(cluster, topic("t", assigned=[[1, 2]]))
        assert cluster.heartbeat(2, want_shut_down=True).should_shut_down
        assert cluster.partition("t").isr == (1,)

    def test_a_fenced_broker_stops_at_once(self) -> None:
        cluster = Cluster()
        cluster.register(1)
        assert cluster.heartbeat(1, want_shut_down=True).should_shut_down

    def test_the_only_broker_gives_up_its_leaderships_and_stops(self) -> None:
        cluster = Cluster(1)
        create(cluster, topic("t"))
        assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
        assert (cluster.partition("t").leader, cluster.partition("t").elr) == (-1, (1,))
        assert cluster.heartbeat(1, want_shut_down=True).should_shut_down
        cluster.join(1, previous_epoch=cluster.image.brokers[1].epoch)
        assert (cluster.partition("t").leader, cluster.partition("t").leader_recovery_state) == (1, 0)

    def test_a_new_controller_lets_a_broker_go_on_shutting_down(self) -> None:
        cluster = Cluster(1, 2)
        create(cluster, topic("t", assigned=[[1, 2]]))
        cluster.heartbeat(1, want_shut_down=True)
        cluster.sessions.activate(cluster.image, cluster.now_ms)
        assert cluster.heartbeat(1, want_shut_down=True).should_shut_down


class TestStaleBrokers:
    def fence_stale(self, cluster: Cluster) -> None:
        cluster.commit(fence_stale_broker(cluster.image, cluster.context()))

    def test_a_broker_that_is_silent_for_too_long_is_fenced(self) -> None:
        cluster = Cluster(1, 2)
        create(cluster, topic("t", assigned=[[1, 2]]))
        cluster.now_ms += 9_000
        cluster.heartbeat(2)
        leaders = []
        for _ in range(2):
            self.fence_stale(cluster)
            leaders.append(cluster.partition("t").leader)
            cluster.now_ms += 1
        assert leaders == [1, 2]
        assert cluster.image.brokers[1].fenced

    def test_one_at_a_time_the_longest_silent_first(self) -> None:
        cluster = Cluster(1, 2, 3)
        cluster.now_ms += 1
        cluster.heartbeat(1)
        cluster.now_ms += 20_000
        self.fence_stale(cluster)
        self.fence_stale(cluster)
        assert [broker.fenced for broker in cluster.image.brokers.values()] == [False, True, True]
        self.fence_stale(cluster)
        before = cluster.image
        self.fence_stale(cluster)
        assert cluster.image is before

    def test_a_new_controller_gives_everyone_a_whole_timeout(self) -> None:
        cluster = Cluster(1)
        cluster.now_ms += 20_000
        cluster.sessions.activate(cluster.image, cluster.now_ms)
        self.fence_stale(cluster)
        assert not cluster.image.brokers[1].fenced

    def test_a_node_that_was_killed_gets_its_own_id_back_at_once(self) -> None:
        cluster = Cluster(1)
        other = replace(REQUEST, incarnation_id=Uuid(b"o" * 16))
        cluster.sessions.activate(cluster.image, cluster.now_ms)
        assert cluster.run(broker_registration, other).error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
        cluster.sessions.activate(cluster.image, cluster.now_ms, dead={1})
        assert cluster.run(broker_registration, other).error_code == 0

    @pytest.mark.parametrize("elr", [True, False])
    def test_a_node_that_was_killed_leads_again_what_it_led(self, elr: bool) -> None:
        """It is the last known leader: what it has lost, nobody else has either."""
        cluster = Cluster(1, elr=elr)
        create(cluster, topic("t", 2))
        before = cluster.partition("t")
        cluster.join(1)
        after = cluster.partition("t")
        assert (after.leader, after.isr, after.leader_epoch) == (1, (1,), before.leader_epoch + 2)


class TestUnregistration:
    def test_a_broker_that_is_gone_for_good_leaves_every_isr(self) -> None:
        cluster = Cluster(1, 2)
        create(cluster, topic("t", assigned=[[1, 2]]))
        response = cluster.run(unregister_broker, UnregisterBrokerRequest(broker_id=1))
        assert (response.error_code, response.error_message) == (0, "")
        assert list(cluster.image.brokers) == [2]
        assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2,))

    def test_an_unknown_one_is_refused(self) -> None:
        response = Cluster(1).run(unregister_broker, UnregisterBrokerRequest(broker_id=7))
        assert response.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
        assert response.error_message == "Broker ID 7 is not currently registered"


def test_controllers_register_and_register_anew() -> None:
    cluster = Cluster()
    listener = controllers.Listener(name="CONTROLLER", host="h", port=9093)
    feature = controllers.Feature(name="metadata.version", min_supported_version=7, max_supported_version=30)
    for incarnation in (b"a", b"b"):
        request = controllers.ControllerRegistrationRequest(
            controller_id=5, incarnation_id=Uuid(incarnation * 16), listeners=[listener], features=[feature]
        )
        assert cluster.run(controller_registration, request).error_code == 0
    found = cluster.image.controllers[5]
    assert (found.incarnation_id, found.listeners[0].port) == (b"b" * 16, 9093)
    assert found.features["metadata.version"] == (7, 30)


def test_every_block_of_producer_ids_is_given_out_once() -> None:
    cluster = Cluster(1, 2)
    blocks = []
    for broker_id in (1, 2, 1):
        epoch = cluster.image.brokers[broker_id].epoch
        response = cluster.run(
            allocate_producer_ids, AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch)
        )
        blocks.append((response.producer_id_start, response.producer_id_len))
    assert blocks == [(0, 1000), (1000, 1000), (2000, 1000)]
    stale = cluster.run(allocate_producer_ids, AllocateProducerIdsRequest(broker_id=1, broker_epoch=-9))
    assert stale.error_code == ErrorCode.STALE_BROKER_EPOCH
    assert cluster.image.next_producer_id == 3000
