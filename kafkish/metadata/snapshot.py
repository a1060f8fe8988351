"""An image as records, in Kafka's order: whoever replays them on an empty image has an equal one."""

from collections.abc import Iterator

from kafkish.metadata.image import MetadataImage
from kafkish.metadata.nodes import broker_to_record, controller_to_record
from kafkish.metadata.topics import partition_to_record
from kafkish.metadata.versions import METADATA_VERSION
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    UserScramCredentialRecord,
)
from kafkish_protocol.stored.metadata_settings import (
    ClientQuotaRecord,
    ConfigRecord,
    EntityData,
    FeatureLevelRecord,
    ProducerIdsRecord,
)
from kafkish_protocol.stored.metadata_topics import TopicRecord


def snapshot_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    """All records of a snapshot; `metadata.version` comes first, since it says how to read the others."""
    yield FeatureLevelRecord(name=METADATA_VERSION, feature_level=image.metadata_version)
    for name, level in sorted(image.features.levels.items()):
        yield FeatureLevelRecord(name=name, feature_level=level)
    yield from map(broker_to_record, image.brokers.values())
    yield from map(controller_to_record, image.controllers.values())
    yield from _topics(image)
    yield from _settings(image)
    yield from _security(image)


def _topics(image: MetadataImage) -> Iterator[MetadataRecord]:
    for topic in image.topics.by_id.values():
        yield TopicRecord(name=topic.name, topic_id=topic.id)
        for index, partition in sorted(topic.partitions.items()):
            yield partition_to_record(partition, topic.id, index, image.metadata_version)


def _settings(image: MetadataImage) -> Iterator[MetadataRecord]:
    for resource, configs in image.configs.items():
        for name, value in configs.items():
            yield ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value)
    for entity, quotas in image.client_quotas.items():
        for key, quota in quotas.items():
            parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
            yield ClientQuotaRecord(entity=parts, key=key, value=quota)
    if image.next_producer_id >= 0:
        yield ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=image.next_producer_id)


def _security(image: MetadataImage) -> Iterator[MetadataRecord]:
    for acl_id, acl in image.acls.items():
        yield AccessControlEntryRecord(
            id=acl_id,
            resource_type=acl.resource_type,
            resource_name=acl.resource_name,
            pattern_type=acl.pattern_type,
            principal=acl.principal,
            host=acl.host,
            operation=acl.operation,
            permission_type=acl.permission_type,
        )
    for user, credential in image.scram.items():
        yield UserScramCredentialRecord(
            name=user.name,
            mechanism=user.mechanism,
            salt=credential.salt,
            stored_key=credential.stored_key,
            server_key=credential.server_key,
            iterations=credential.iterations,
        )
    for token_id, token in image.delegation_tokens.items():
        yield DelegationTokenRecord(
            owner=token.owner,
            requester=token.requester,
            renewers=list(token.renewers),
            issue_timestamp=token.issue_timestamp_ms,
            max_timestamp=token.max_timestamp_ms,
            expiration_timestamp=token.expiration_timestamp_ms,
            token_id=token_id,
        )
