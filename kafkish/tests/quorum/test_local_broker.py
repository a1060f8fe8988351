"""The broker of this process: registered, unfenced, alive, and gone without a trace of doubt."""

import pytest

from kafkish.controller.unregister_broker import unregister_broker
from kafkish.metadata.topics import NO_LEADER
from kafkish.quorum.duties import Duties
from kafkish.quorum.local_broker import RegistrationError
from kafkish.quorum.runtime import Caller
from kafkish.tests.quorum.node import Node
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest


def test_restart_needs_no_session_timeout() -> None:
    first = Node().start()
    first.created("a")
    second = Node(first.files, seed=2)
    second.start()  # 200 ms; the session of the first would be over after 9 s
    assert second.broker.ready.is_done
    assert second.broker.epoch != first.broker.epoch
    assert second.image.topics.by_name["a"].partitions[0].leader == 1


def test_broker_stays_unfenced_for_minutes() -> None:
    node = Node()
    Duties(node.controller, node.settings.replication)
    node.start()
    node.created("a")
    end_offset = node.quorum.log.end_offset
    node.world.settle(10 * 60 * 1_000)
    assert node.image.is_active(1)
    assert node.quorum.log.end_offset == end_offset  # nothing is written while nothing happens


def test_stall_of_the_process_does_not_fence_its_own_broker() -> None:
    node = Node()
    Duties(node.controller, node.settings.replication)
    node.start()
    node.world.now_ms += 60_000
    node.world.settle(10_000)
    assert node.image.is_active(1)
    assert node.image.brokers[1].epoch == node.broker.epoch


def test_stop_takes_the_broker_out_of_service_before_the_quorum_ends() -> None:
    node = Node().start()
    node.created("a")
    node.stop()
    assert node.image.brokers[1].fenced
    assert node.image.topics.by_name["a"].partitions[0].leader == NO_LEADER
    assert node.failures == []
    again = Node(node.files, seed=2).start()
    assert again.image.topics.by_name["a"].partitions[0].leader == 1


def test_unregistered_broker_registers_again() -> None:
    node = Node().start()
    epoch = node.broker.epoch
    node.controller.submit(unregister_broker, UnregisterBrokerRequest(broker_id=1), Caller(api_version=0))
    node.world.settle(5_000)
    assert node.image.is_active(1)
    assert node.image.brokers[1].epoch == node.broker.epoch != epoch


def test_broker_that_lacks_a_finalized_feature_is_told_which() -> None:
    node = Node()
    node.broker._request.features = [
        it for it in node.broker._request.features if it.name != "eligible.leader.replicas.version"
    ]
    node.start()
    with pytest.raises(RegistrationError, match=r"UNSUPPORTED_VERSION.*eligible\.leader\.replicas\.version=1"):
        node.broker.ready.result()
