"""Topics that are created because someone asked for them.

The controller creates them, as if the client had sent CreateTopics. Nobody waits for it: the client is told that there
is no such topic yet, and asks again.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from kafkish.config.settings import Settings
from kafkish.config.topic_names import why_invalid
from kafkish.deferred import Deferred
from kafkish.handlers.services import Services
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafkish_protocol.schema import Response

log = logging.getLogger("kafkish.topics")

GROUPS_TOPIC: Final = "__consumer_offsets"
TRANSACTIONS_TOPIC: Final = "__transaction_state"
SHARES_TOPIC: Final = "__share_group_state"
INTERNAL_TOPICS: Final = frozenset({GROUPS_TOPIC, TRANSACTIONS_TOPIC, SHARES_TOPIC})

_VERSION: Final = 7


def create_missing(names: Iterable[str], services: Services) -> dict[str, ErrorCode]:
    """Order topics that are not there; what to say of each until it is. One that is on its way is not ordered again."""
    errors: dict[str, ErrorCode] = {}
    ordered = []
    for name in names:
        invalid = why_invalid(name) is not None
        errors[name] = ErrorCode.INVALID_TOPIC_EXCEPTION if invalid else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if not invalid and name not in services.creating_topics:
            services.creating_topics.add(name)
            ordered.append(name)
    if ordered:
        _order(ordered, services)
    return errors


def _order(names: list[str], services: Services) -> None:
    settings = services.metadata.settings
    topics = [creatable_topic(name, settings) for name in names]
    request = CreateTopicsRequest(topics=topics, timeout_ms=settings.network.request_timeout_ms)

    def done(answer: Deferred[Response]) -> None:
        services.creating_topics.difference_update(names)
        _report(names, answer)

    services.controller.submit(request, _VERSION).on_done(done)


def _report(names: list[str], answer: Deferred[Response]) -> None:
    """Nobody else hears why a topic could not be created."""
    try:
        response = answer.result()
    except Exception as error:  # the client asks again
        log.warning("could not create %s: %s", ", ".join(names), error)
        return
    assert isinstance(response, CreateTopicsResponse)
    for topic in response.topics:
        if topic.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            reason = topic.error_message or ErrorCode(topic.error_code).name
            log.warning("could not create %s: %s", topic.name, reason)


def creatable_topic(name: str, settings: Settings) -> CreatableTopic:
    """A topic as its settings have it: its own if it is internal, those of any other topic if it is not."""
    if name in _INTERNAL:
        return _INTERNAL[name](settings)
    topics = settings.topics
    return CreatableTopic(
        name=name, num_partitions=topics.num_partitions, replication_factor=topics.default_replication_factor
    )


def _groups_topic(settings: Settings) -> CreatableTopic:
    groups = settings.groups
    configs = {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": str(groups.offsets_topic_segment_bytes),
    }
    return _internal(
        GROUPS_TOPIC, groups.offsets_topic_num_partitions, groups.offsets_topic_replication_factor, configs
    )


def _transactions_topic(settings: Settings) -> CreatableTopic:
    transactions = settings.transactions
    configs = {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "min.insync.replicas": str(transactions.transaction_state_log_min_isr),
        "segment.bytes": str(transactions.transaction_state_log_segment_bytes),
        "unclean.leader.election.enable": "false",
    }
    partitions = transactions.transaction_state_log_num_partitions
    return _internal(TRANSACTIONS_TOPIC, partitions, transactions.transaction_state_log_replication_factor, configs)


def _shares_topic(settings: Settings) -> CreatableTopic:
    def number(name: str) -> int:
        return int(settings.configs.number(f"share.coordinator.state.topic.{name}"))

    configs = {
        "cleanup.policy": "delete",
        "compression.type": "none",
        "min.insync.replicas": str(number("min.isr")),
        "retention.ms": "-1",
        "segment.bytes": str(number("segment.bytes")),
    }
    return _internal(SHARES_TOPIC, number("num.partitions"), number("replication.factor"), configs)


def _internal(name: str, partitions: int, factor: int, configs: Mapping[str, str]) -> CreatableTopic:
    rows = [CreatableTopicConfig(name=key, value=value) for key, value in configs.items()]
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=factor, configs=rows)


_INTERNAL: Final[Mapping[str, Callable[[Settings], CreatableTopic]]] = {
    GROUPS_TOPIC: _groups_topic,
    TRANSACTIONS_TOPIC: _transactions_topic,
    SHARES_TOPIC: _shares_topic,
}
