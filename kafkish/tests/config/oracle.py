"""Apache Kafka, asked about its configs."""

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from apache_kafka import ApacheKafka

from kafkish.config.alter import Operation, OperationType
from kafkish.config.describe import ConfigRow, Synonym
from kafkish.config.node import NodeConfigs
from kafkish.config.properties import parse_properties
from kafkish.config.types import ConfigSource, ConfigType, ResourceType
from kafkish_protocol.messages import alter_configs as replacing
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from kafkish_protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkish_protocol.tests.raw_client import RawClient

TOPIC_NAME = "oracle"
NODE = "1"
"""The id of the node that ApacheKafka starts."""


class Oracle:
    """A running Apache Kafka with one topic."""

    def __init__(self, kafka: ApacheKafka, directory: Path) -> None:
        self._client = RawClient(kafka.port)
        text = (directory / "server.properties").read_text(encoding="latin-1")
        self.static = {name: value for name, value, _ in parse_properties(text)}
        self._topic_names = (f"topic-{number}" for number in count())
        self._create(TOPIC_NAME)

    def new_topic(self, configs: Mapping[str, str]) -> str:
        """Make a topic with these configs."""
        name = next(self._topic_names)
        self._create(name)
        self.set(ResourceType.TOPIC, name, configs)
        return name

    def _create(self, name: str) -> None:
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[])
        created = self._client.send(CreateTopicsRequest(topics=[topic], timeout_ms=10_000, validate_only=False), 7)
        assert created.topics[0].error_code == 0, created

    def describe(self, resource: ResourceType, name: str) -> dict[str, ConfigRow]:
        """What Kafka answers about a resource, by config."""
        result = self._described(resource, name)
        assert result.error_code == 0, result.error_message
        return {each.name: _row(each) for each in result.configs}

    def refusal_to_describe(self, resource: ResourceType, name: str) -> tuple[int, str | None]:
        """The error code and message of DescribeConfigs."""
        result = self._described(resource, name)
        return result.error_code, result.error_message

    def _described(self, resource: ResourceType, name: str) -> DescribeConfigsResult:
        asked = DescribeConfigsResource(resource_type=resource, resource_name=name, configuration_keys=None)
        request = DescribeConfigsRequest(resources=[asked], include_synonyms=True, include_documentation=False)
        result: DescribeConfigsResult = self._client.send(request, 4).results[0]
        return result

    def alter(
        self, resource: ResourceType, name: str, operations: Sequence[Operation], *, validate_only: bool = True
    ) -> tuple[int, str | None]:
        """The error code and message of IncrementalAlterConfigs."""
        configs = [AlterableConfig(name=key, config_operation=type_, value=value) for key, type_, value in operations]
        asked = AlterConfigsResource(resource_type=resource, resource_name=name, configs=configs)
        request = IncrementalAlterConfigsRequest(resources=[asked], validate_only=validate_only)
        response = self._client.send(request, 1).responses[0]
        return response.error_code, response.error_message

    def replace(
        self, resource: ResourceType, name: str, configs: Sequence[tuple[str, str | None]]
    ) -> tuple[int, str | None]:
        """The error code and message of AlterConfigs, which nobody applies."""
        asked = replacing.AlterConfigsResource(
            resource_type=resource,
            resource_name=name,
            configs=[replacing.AlterableConfig(name=key, value=value) for key, value in configs],
        )
        request = replacing.AlterConfigsRequest(resources=[asked], validate_only=True)
        response = self._client.send(request, 2).responses[0]
        return response.error_code, response.error_message

    def set(self, resource: ResourceType, name: str, configs: Mapping[str, str]) -> None:
        """Give a resource these configs."""
        operations = [Operation(key, OperationType.SET, value) for key, value in configs.items()]
        assert self.alter(resource, name, operations, validate_only=False)[0] == 0, configs

    def node(self, own: Mapping[str, str] | None = None) -> NodeConfigs:
        """The configs of Kafka's broker as kafkish holds them, with what Kafka itself set for all brokers."""
        cluster = {name: row.value or "" for name, row in self.describe(ResourceType.BROKER, "").items()}
        return NodeConfigs(self.static, cluster, own)


def _row(answer: DescribeConfigsResourceResult) -> ConfigRow:
    synonyms = tuple(Synonym(each.name, each.value, ConfigSource(each.source)) for each in answer.synonyms)
    return ConfigRow(
        answer.name,
        answer.value,
        answer.read_only,
        ConfigSource(answer.config_source),
        answer.is_sensitive,
        synonyms,
        ConfigType(answer.config_type),
    )
