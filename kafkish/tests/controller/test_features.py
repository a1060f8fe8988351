"""Features: those of a new cluster, and how they change."""

from typing import Any

import pytest

from kafkish.controller.bootstrap import activation_records, bootstrap_levels, bootstrap_records
from kafkish.controller.features import FEATURES, KAFKA_FEATURES
from kafkish.controller.update_features import update_features, wanted_kraft_version
from kafkish.metadata.image import ALL_BROKERS, EMPTY
from kafkish.metadata.loader import MetadataLoader
from kafkish.metadata.nodes import VersionRange
from kafkish.tests.controller.cluster import Cluster
from kafkish.tests.controller.test_alter_configs import SET, alter, change
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kafkish_protocol.stored.metadata_transactions import AbortTransactionRecord

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
ELR = "eligible.leader.replicas.version"


class TestBootstrap:
    def test_a_new_cluster_has_the_levels_of_kafka_43(self) -> None:
        assert bootstrap_levels(KAFKA_FEATURES) == {
            "metadata.version": 30,
            "kraft.version": 1,
            "transaction.version": 2,
            "group.version": 1,
            ELR: 1,
            "share.version": 1,
            "streams.version": 1,
        }

    def test_an_older_metadata_version_has_fewer_features(self) -> None:
        levels = bootstrap_levels(KAFKA_FEATURES, {"metadata.version": 22})
        assert {name for name, level in levels.items() if level} == {
            "metadata.version",
            "kraft.version",
            "group.version",
        }

    def test_what_this_software_does_not_support_is_not_switched_on(self) -> None:
        supported = {"metadata.version": VersionRange(7, 30), "group.version": VersionRange(0, 0)}
        assert bootstrap_levels(supported) == {"metadata.version": 30, "group.version": 0}

    @pytest.mark.parametrize(
        ("wanted", "reason"),
        [
            ({"nonsense": 1}, "unsupported feature nonsense"),
            ({"group.version": 2}, "group.version 2 is not supported"),
            ({"metadata.version": 22, ELR: 1}, "depends on metadata.version level 23"),
        ],
    )
    def test_what_cannot_be_is_refused(self, wanted: dict[str, int], reason: str) -> None:
        with pytest.raises(ValueError, match=reason):
            bootstrap_levels(KAFKA_FEATURES, wanted)

    def test_the_first_records_take_effect_together(self) -> None:
        loader = MetadataLoader()
        records = bootstrap_records(bootstrap_levels(KAFKA_FEATURES), min_isr=2)
        assert loader.load_batch(records[:-1], base_offset=0, epoch=1, timestamp_ms=1) == []
        loader.load_batch(records[-1:], base_offset=len(records) - 1, epoch=1, timestamp_ms=1)
        assert loader.image.metadata_version == 30
        assert loader.image.configs == {ALL_BROKERS: {"min.insync.replicas": "2"}}

    def test_a_new_controller_ends_what_was_left_open_and_bootstraps_once(self) -> None:
        levels = bootstrap_levels(KAFKA_FEATURES)
        assert activation_records(EMPTY, True, levels, 1) == [
            AbortTransactionRecord(reason="Controller failover"),
            *bootstrap_records(levels, 1),
        ]
        assert activation_records(Cluster().image, False, levels, 1) == []


def update(cluster: Cluster, *updates: tuple[str, int, int], version: int = 2, **options: Any) -> tuple[int, str]:
    keys = [FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind) for name, level, kind in updates]
    response = cluster.run(update_features, UpdateFeaturesRequest(feature_updates=keys, **options), version)
    return response.error_code, response.error_message or ""


class TestUpdateFeatures:
    def test_a_feature_goes_down_and_up(self) -> None:
        cluster = Cluster(1)
        assert update(cluster, ("group.version", 0, SAFE_DOWNGRADE)) == (0, "")
        assert cluster.image.features.level("group.version") == 0
        assert update(cluster, ("group.version", 1, UPGRADE), ("share.version", 0, SAFE_DOWNGRADE)) == (0, "")
        assert cluster.image.features.level("group.version") == 1

    def test_validation_writes_nothing(self) -> None:
        cluster = Cluster(1)
        assert update(cluster, ("group.version", 0, SAFE_DOWNGRADE), validate_only=True) == (0, "")
        assert cluster.image.features.level("group.version") == 1

    @pytest.mark.parametrize(
        ("name", "level", "kind", "reason"),
        [
            ("group.version", 0, UPGRADE, "Can't downgrade the version of this feature without setting"),
            ("transaction.version", 2, 9, "The controller does not support the given upgrade type."),
            ("group.version", -1, SAFE_DOWNGRADE, "A feature version cannot be less than 0."),
            ("group.version", 2, UPGRADE, "Local controller 1 only supports versions 0-1"),
            ("nonsense", 1, UPGRADE, "Local controller 1 does not support this feature."),
            ("nonsense", 0, UPGRADE, "Feature nonsense not found."),
            ("metadata.version", 29, SAFE_DOWNGRADE, "might delete metadata information"),
            ("metadata.version", 29, UNSAFE_DOWNGRADE, "Unsafe metadata downgrade is not supported"),
            ("metadata.version", 31, UPGRADE, "only supports versions 7-30"),
            ("kraft.version", 0, SAFE_DOWNGRADE, "Can't downgrade the version of this feature."),
        ],
    )
    def test_what_cannot_be_is_refused(self, name: str, level: int, kind: int, reason: str) -> None:
        cluster = Cluster(1)
        before = cluster.image
        code, message = update(cluster, (name, level, kind))
        assert code == ErrorCode.INVALID_UPDATE_VERSION
        assert message.startswith("The update failed for all features since the following feature had an error: ")
        assert reason in message
        assert cluster.image is before

    def test_all_updates_or_none(self) -> None:
        cluster = Cluster(1)
        assert update(cluster, ("group.version", 0, SAFE_DOWNGRADE), ("nonsense", 1, UPGRADE))[0] != 0
        assert cluster.image.features.level("group.version") == 1

    def test_to_go_up_is_no_downgrade(self) -> None:
        cluster = Cluster(1, elr=False)
        assert "Can't downgrade to a newer version." in update(cluster, (ELR, 1, SAFE_DOWNGRADE))[1]

    def test_every_node_must_support_a_level(self) -> None:
        cluster = Cluster(1, elr=False)
        cluster.settings = type(cluster.settings)(
            "c", 1, frozenset({1, 2}), {**KAFKA_FEATURES, "group.version": VersionRange(0, 1)}
        )
        _, message = update(cluster, (ELR, 1, UPGRADE))
        assert "controller 2 has not registered, and may not support this feature" in message

    def test_eligible_leader_replicas_need_one_min_isr_for_all(self) -> None:
        cluster = Cluster(1, elr=False)
        alter(cluster, change(4, "1", (SET, "min.insync.replicas", "2")))
        assert update(cluster, (ELR, 1, UPGRADE)) == (0, "")
        assert cluster.image.configs == {ALL_BROKERS: {"min.insync.replicas": "1"}}

    def test_the_quorum_is_asked_for_its_own_feature(self) -> None:
        cluster = Cluster(1)
        assert update(cluster, ("kraft.version", 1, UPGRADE), version=2) == (0, "")
        wanted = [FeatureUpdateKey(feature="kraft.version", max_version_level=1)]
        assert wanted_kraft_version(UpdateFeaturesRequest(feature_updates=wanted)) == 1
        assert wanted_kraft_version(UpdateFeaturesRequest(feature_updates=wanted, validate_only=True)) is None
        assert wanted_kraft_version(UpdateFeaturesRequest()) is None


def test_every_feature_of_kafka_is_in_the_table() -> None:
    assert set(FEATURES) | {"metadata.version"} == set(KAFKA_FEATURES)
