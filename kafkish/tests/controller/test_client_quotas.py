"""AlterClientQuotas and DescribeClientQuotas."""

import pytest

from kafkish.controller.alter_client_quotas import alter_client_quotas
from kafkish.controller.describe_client_quotas import describe_client_quotas
from kafkish.tests.controller.cluster import Cluster
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
    OpData,
)
from kafkish_protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest

Entity = dict[str, str | None]


def entry(entity: Entity, *ops: tuple[str, float | None]) -> AlterClientQuotasRequestEntryData:
    return AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )


def alter(cluster: Cluster, *entries: AlterClientQuotasRequestEntryData, validate_only: bool = False) -> list[int]:
    request = AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
    return [row.error_code for row in cluster.run(alter_client_quotas, request).entries]


def describe(cluster: Cluster, *components: tuple[str, int, str | None], strict: bool = False) -> list[Entity] | str:
    parts = [ComponentData(entity_type=kind, match_type=how, match=name) for kind, how, name in components]
    response = describe_client_quotas(cluster.image, DescribeClientQuotasRequest(components=parts, strict=strict))
    if response.entries is None:
        return response.error_message or ""
    return [{part.entity_type: part.entity_name for part in found.entity} for found in response.entries]


def test_limits_are_set_changed_and_removed() -> None:
    cluster = Cluster(1)
    user: Entity = {"user": "a"}
    assert alter(cluster, entry(user, ("consumer_byte_rate", 10.0), ("request_percentage", 1.5))) == [0]
    assert cluster.image.client_quotas == {(("user", "a"),): {"consumer_byte_rate": 10.0, "request_percentage": 1.5}}
    before = cluster.image
    alter(cluster, entry(user, ("consumer_byte_rate", 10.0), ("producer_byte_rate", None)))
    assert cluster.image is before
    alter(cluster, entry(user, ("consumer_byte_rate", None), ("request_percentage", None)))
    assert cluster.image.client_quotas == {}


def test_validation_writes_nothing() -> None:
    cluster = Cluster(1)
    assert alter(cluster, entry({"user": None}, ("consumer_byte_rate", 10.0)), validate_only=True) == [0]
    assert cluster.image.client_quotas == {}


@pytest.mark.parametrize(
    ("entity", "key", "value"),
    [
        ({}, "consumer_byte_rate", 1.0),
        ({"group": "g"}, "consumer_byte_rate", 1.0),
        ({"user": ""}, "consumer_byte_rate", 1.0),
        ({"user": "a", "ip": "1.2.3.4"}, "connection_creation_rate", 1.0),
        ({"ip": "not an address"}, "connection_creation_rate", 1.0),
        ({"ip": "1.2.3.4"}, "consumer_byte_rate", 1.0),
        ({"ip": "1.2.3.4"}, "connection_creation_rate", 2.0**31),
        ({"user": "a"}, "connection_creation_rate", 1.0),
        ({"user": "a"}, "consumer_byte_rate", -1.0),
        ({"user": "a"}, "consumer_byte_rate", 1.5),
        ({"user": "a"}, "consumer_byte_rate", 1e300),
        ({"user": "a"}, "request_percentage", float("nan")),
    ],
)
def test_what_cannot_be_is_refused(entity: Entity, key: str, value: float) -> None:
    cluster = Cluster(1)
    assert alter(cluster, entry(entity, (key, value))) == [ErrorCode.INVALID_REQUEST]
    assert cluster.image.client_quotas == {}


def test_of_an_entity_that_is_there_twice_the_first_counts_and_the_answer_is_an_error() -> None:
    cluster = Cluster(1)
    twice = [entry({"user": "a"}, ("consumer_byte_rate", value)) for value in (1.0, 2.0)]
    assert alter(cluster, *twice) == [ErrorCode.INVALID_REQUEST]
    assert cluster.image.client_quotas == {(("user", "a"),): {"consumer_byte_rate": 1.0}}


def test_entities_are_found_by_name_default_or_kind() -> None:
    cluster = Cluster(1)
    entities: list[Entity] = [{"user": "a"}, {"user": None}, {"client-id": "c", "user": "a"}, {"ip": "::1"}]
    for entity in entities:
        key = "connection_creation_rate" if "ip" in entity else "consumer_byte_rate"
        assert alter(cluster, entry(entity, (key, 1.0))) == [0]
    assert describe(cluster) == entities
    assert describe(cluster, ("user", 0, "a")) == [entities[0], entities[2]]
    assert describe(cluster, ("user", 0, "a"), strict=True) == [entities[0]]
    assert describe(cluster, ("user", 1, None)) == [entities[1]]
    assert describe(cluster, ("user", 2, None)) == entities[:3]
    assert describe(cluster, ("ip", 2, None)) == [entities[3]]
    assert describe(cluster, ("ip", 0, "1.1.1.1")) == []


@pytest.mark.parametrize(
    ("components", "reason"),
    [
        ([("", 0, "a")], "Invalid empty entity type."),
        ([("user", 0, "a"), ("user", 1, None)], "Entity type user cannot appear more than once in the filter."),
        ([("group", 0, "a")], "Unsupported entity type group"),
        ([("user", 0, None)], "Request specified MATCH_TYPE_EXACT, but set match string to null."),
        ([("user", 1, "a")], "Request specified MATCH_TYPE_DEFAULT, but also specified a match string."),
        ([("user", 2, "a")], "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string."),
        ([("user", 3, "a")], "Unknown match type 3"),
        ([("ip", 1, None), ("user", 1, None)], "Invalid entity filter component combination."),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(components: list[tuple[str, int, str | None]], reason: str) -> None:
    said = describe(Cluster(1), *components)
    assert isinstance(said, str)
    assert said.startswith(reason)
