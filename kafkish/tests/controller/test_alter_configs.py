"""AlterConfigs and IncrementalAlterConfigs."""

from typing import Any

import pytest

from kafkish.controller.alter_configs import alter_configs, incremental_alter_configs
from kafkish.metadata.image import ResourceType
from kafkish.tests.controller.cluster import Cluster
from kafkish.tests.controller.test_create_topics import create, topic
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages import alter_configs as legacy
from kafkish_protocol.messages import incremental_alter_configs as incremental

SET, DELETE, APPEND, SUBTRACT = range(4)

Changes = list[tuple[int, str, str | None]]


def a_cluster(**options: Any) -> Cluster:
    cluster = Cluster(1, 2, 3, **options)
    create(cluster, topic("t", replicas=3))
    return cluster


def change(kind: int, name: str, *changes: tuple[int, str, str | None]) -> incremental.AlterConfigsResource:
    configs = [incremental.AlterableConfig(config_operation=op, name=key, value=value) for op, key, value in changes]
    return incremental.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)


def alter(
    cluster: Cluster, *resources: incremental.AlterConfigsResource, **options: Any
) -> list[tuple[int, str | None]]:
    validate_only = options.pop("validate_only", False)
    request = incremental.IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    response = cluster.run(incremental_alter_configs, request, **options)
    return [(row.error_code, row.error_message) for row in response.responses]


def test_single_configs_are_set_appended_to_subtracted_from_and_deleted() -> None:
    cluster = a_cluster()
    assert alter(cluster, change(2, "t", (SET, "retention.ms", "5"), (APPEND, "cleanup.policy", "compact"))) == [
        (0, None)
    ]
    assert cluster.image.config(2, "t") == {"retention.ms": "5", "cleanup.policy": "delete,compact"}
    alter(cluster, change(2, "t", (SUBTRACT, "cleanup.policy", "delete"), (DELETE, "retention.ms", None)))
    assert cluster.image.config(2, "t") == {"cleanup.policy": "compact"}


def test_a_value_that_stays_is_no_record_but_for_brokers() -> None:
    cluster = a_cluster()
    alter(cluster, change(2, "t", (SET, "retention.ms", "5")), change(4, "1", (SET, "retention.ms", "5")))
    before = cluster.image
    alter(cluster, change(2, "t", (SET, "retention.ms", "5")))
    assert cluster.image is before
    alter(cluster, change(4, "1", (SET, "retention.ms", "5")))
    assert cluster.image.provenance.offset == before.provenance.offset + 1


def test_a_resource_changes_as_a_whole_and_others_are_not_concerned() -> None:
    cluster = a_cluster()
    bad = change(2, "t", (SET, "retention.ms", "5"), (SET, "segment.bytes", "many"))
    good = change(32, "group", (SET, "retention.ms", "6"))
    rows = alter(cluster, bad, good)
    assert [code for code, _ in rows] == [ErrorCode.INVALID_CONFIG, 0]
    assert cluster.image.config(2, "t") == {}
    assert cluster.image.config(32, "group") == {"retention.ms": "6"}


def test_validation_writes_nothing() -> None:
    cluster = a_cluster()
    assert alter(cluster, change(2, "t", (SET, "retention.ms", "5")), validate_only=True) == [(0, None)]
    assert cluster.image.config(2, "t") == {}


@pytest.mark.parametrize(
    ("resource", "code"),
    [
        (change(2, "x", (SET, "retention.ms", "5")), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (change(4, "9", (SET, "retention.ms", "5")), ErrorCode.BROKER_ID_NOT_REGISTERED),
        (change(8, "1", (SET, "x", "INFO")), ErrorCode.INVALID_REQUEST),
        (change(77, "1", (SET, "x", "1")), ErrorCode.INVALID_REQUEST),
        (change(2, "t", (APPEND, "retention.ms", "5")), ErrorCode.INVALID_CONFIG),
        (change(2, "t", (SET, "nonsense", "5")), ErrorCode.INVALID_CONFIG),
    ],
)
def test_what_cannot_be_is_refused(resource: incremental.AlterConfigsResource, code: ErrorCode) -> None:
    cluster = a_cluster()
    before = cluster.image
    assert alter(cluster, resource)[0][0] == code
    assert cluster.image is before


def test_a_resource_that_is_there_twice_is_not_changed() -> None:
    cluster = a_cluster()
    rows = alter(cluster, *[change(2, "t", (SET, "retention.ms", value)) for value in "56"])
    assert rows == [(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")] * 2
    assert cluster.image.config(2, "t") == {}


def test_who_may_not_is_told_by_the_kind_of_resource() -> None:
    resources = [change(kind, "1", (SET, "retention.ms", "5")) for kind in (2, 4, 16, 32)]
    rows = alter(a_cluster(), *resources, authorize=lambda *_: False)
    assert [code for code, _ in rows] == [
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ]


class TestMinIsr:
    """KIP-966: with eligible leader replicas there is one min.insync.replicas for all brokers."""

    def shrunk(self) -> Cluster:
        """One broker is alone in sync and the others are eligible."""
        cluster = a_cluster()
        alter(cluster, change(2, "t", (SET, "min.insync.replicas", "3")))
        others = cluster.partition("t").isr[1:]
        for broker_id in others:
            cluster.heartbeat(broker_id, want_fence=True)
        assert len(cluster.partition("t").elr) == 2
        return cluster

    @pytest.mark.parametrize(("kind", "name"), [(2, "t"), (4, "")])
    def test_a_new_one_clears_the_eligible(self, kind: int, name: str) -> None:
        cluster = self.shrunk()
        alter(cluster, change(kind, name, (SET, "min.insync.replicas", "2")))
        assert cluster.partition("t").elr == ()

    def test_a_broker_cannot_have_its_own_nor_can_the_common_one_go(self) -> None:
        cluster = a_cluster()
        own = change(4, "1", (SET, "min.insync.replicas", "2"))
        common = change(4, "", (DELETE, "min.insync.replicas", None))
        assert [code for code, _ in alter(cluster, own, common)] == [ErrorCode.INVALID_CONFIG] * 2
        without = a_cluster(elr=False)
        assert [code for code, _ in alter(without, own, common)] == [0, 0]


def test_directories_are_cordoned_through_the_broker_that_has_them() -> None:
    cluster = a_cluster()
    here = change(4, "1", (SET, "cordoned.log.dirs", "/a"))
    assert alter(cluster, here, through_broker=False)[0][0] == ErrorCode.INVALID_CONFIG
    assert alter(cluster, here) == [(0, None)]
    assert alter(cluster, change(4, "1", (SET, "cordoned.log.dirs", "")), through_broker=False) == [(0, None)]


def test_alter_configs_replaces_all_of_a_resource() -> None:
    cluster = a_cluster()
    alter(cluster, change(2, "t", (SET, "retention.ms", "5"), (SET, "segment.bytes", "6")))
    configs = [legacy.AlterableConfig(name="segment.bytes", value="7")]
    resource = legacy.AlterConfigsResource(resource_type=2, resource_name="t", configs=configs)
    response = cluster.run(alter_configs, legacy.AlterConfigsRequest(resources=[resource]))
    (row,) = response.responses
    assert (row.error_code, row.error_message, row.resource_type, row.resource_name) == (0, None, 2, "t")
    assert cluster.image.config(ResourceType.TOPIC, "t") == {"segment.bytes": "7"}
