"""Our definitions say what Kafka 4.3's own schemas say, field by field."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from kafkish_protocol.api import ApiKey, request_class, response_class
from kafkish_protocol.tests.catalog import all_messages
from kafkish_protocol.tests.kafka_schemas import describe_kafka, describe_ours, differences, kafka_schemas

pytestmark = pytest.mark.kafka


def test_every_message_of_kafka_is_defined_and_nothing_else() -> None:
    assert sorted(all_messages()) == sorted(kafka_schemas())


def test_definitions_equal_kafkas_field_by_field(show: Callable[[str], None]) -> None:
    found, fields = [], 0
    for name, message in all_messages().items():
        kafka = describe_kafka(kafka_schemas()[name])
        fields += len(kafka) - 1
        found += [f"{name}.{line}" for line in differences(kafka, describe_ours(message))]
    show(f"{len(all_messages())} messages, {fields} fields compared, {len(found)} differences")
    assert found == []


MUTATIONS: dict[str, Callable[[dict[str, Any]], None]] = {
    "name": lambda field: field.update(name="Renamed"),
    "type": lambda field: field.update(type="[]int8"),
    "versions": lambda field: field.update(versions="1+"),
    "nullable versions": lambda field: field.update(nullableVersions="3+"),
    "tag": lambda field: field.update(tag=9),
    "tagged versions": lambda field: field.update(taggedVersions="16+"),
    "default": lambda field: field.update(default="-7"),
    "ignorable": lambda field: field.update(ignorable=not field.get("ignorable", False)),
    "entity type": lambda field: field.update(entityType="groupId"),
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_comparison_notices_a_change_of_any_property_of_any_field(what: str) -> None:
    """Test of the test: altered in Kafka's schema, each property of each field of Fetch shows up as a difference."""
    original = kafka_schemas()["FetchRequest"]
    ours = describe_ours(all_messages()["FetchRequest"])
    paths = [path for path in describe_kafka(original) if path]
    for path in paths:
        altered = copy.deepcopy(original)
        field: dict[str, Any] = {}
        fields = altered["fields"]
        for part in path.split("."):
            field = next(candidate for candidate in fields if candidate["name"] == part)
            fields = field.get("fields", [])
        before = copy.deepcopy(field)
        MUTATIONS[what](field)
        if what == "default" and not field["type"].startswith("int"):
            continue  # only numbers take this default
        assert (field == before) or differences(describe_kafka(altered), ours), path
    assert len(paths) > 20


def test_api_keys_lead_to_their_messages() -> None:
    requests = {schema["apiKey"]: schema for schema in kafka_schemas().values() if schema["type"] == "request"}
    assert sorted(requests) == sorted(ApiKey)
    for key in ApiKey:
        assert request_class(key).schema.name == requests[key]["name"]
        assert response_class(key).schema.name == requests[key]["name"].removesuffix("Request") + "Response"
        assert request_class(key).schema.api_key == response_class(key).schema.api_key == key
