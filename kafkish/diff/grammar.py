"""Requests from schemas: every field of a version gets a word of the vocabulary or a value of its type.

Deterministic: the same seed and the same replies give the same requests.
"""

from random import Random
from typing import Any, Final

from kafkish.diff import vocabulary as words
from kafkish.diff.world import World
from kafkish_protocol.api import ApiKey, request_class
from kafkish_protocol.fields import Field
from kafkish_protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkish_protocol.messages.update_features import UpdateFeaturesRequest
from kafkish_protocol.schema import Request
from kafkish_protocol.types import Array, Nested

LAST_OPERATION: Final = 3
SUBJECTS: Final = {
    "name", "topic", "topic_name", "topic_id", "group_id", "partition", "partition_index", "index", "member_id",
    "resource_type", "resource_name", "feature", "broker_id",
}  # fmt: skip


class Grammar:
    """Fills requests."""

    def __init__(self, random: Random, world: World) -> None:
        self.random = random
        self.world = world

    def request(self, key: ApiKey, version: int) -> Request:
        """A request of this API that this version can carry."""
        filled: Request = self._struct(request_class(key), key, version)
        return self.harmless(filled, version)

    def harmless(self, request: Any, version: int) -> Request:
        """Without what would change a broker for good."""
        match request:
            case UpdateFeaturesRequest() if version == 0:  # which cannot only validate
                for update in request.feature_updates:
                    update.feature = "no.such.feature"
            case IncrementalAlterConfigsRequest():
                # Kafka's controller fails over an operation that does not exist: what became of others is an accident
                for resource in request.resources:
                    unknown = [each for each in resource.configs if each.config_operation > LAST_OPERATION]
                    if unknown:
                        resource.configs, request.resources = unknown[:1], [resource]
        if request.schema.api_key in (ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS):
            request.validate_only |= any(row.resource_type in (4, 8, 16, 32) for row in request.resources)
        return request  # type: ignore[no-any-return]

    def _struct(self, struct_class: type[Any], key: ApiKey, version: int) -> Any:
        fields = [each for each in struct_class.schema.fields if version in each.versions]
        made = struct_class(**{each.name: self._value(each, key, version) for each in fields})
        return self._related(made, key)

    def _value(self, each: Field, key: ApiKey, version: int) -> Any:
        if version in each.tagged and self.random.random() < 0.7:
            return each.default_value()
        if isinstance(each.wire, Nested):
            return self._struct(each.wire.struct_class, key, version)
        nullable = version in each.nullable
        if isinstance(each.wire, Array):
            return None if nullable and self.random.random() < 0.2 else self._list(each, key, version)
        word = self._word(each, key)
        return word if word is not None or nullable else each.wire.zero()

    def _list(self, each: Field, key: ApiKey, version: int) -> list[Any]:
        element = each.wire.element
        count = self.random.choice((0, 1, 1, 1, 1, 1, 1, 2, 3))
        if isinstance(element, Nested):
            rows = [self._struct(element.struct_class, key, version) for _ in range(count)]
            return list({self._subject(row, version): row for row in rows}.values())
        return list(dict.fromkeys(self._word(each, key) for _ in range(count)))

    def _subject(self, row: Any, version: int) -> str:
        """What a row is about. No client asks for one thing twice in a request, and answers to that are accidents."""
        names = [each.name for each in row.schema.fields if version in each.versions and each.name in SUBJECTS]
        return repr([getattr(row, name) for name in names] or row)

    def _word(self, each: Field, key: ApiKey) -> Any:
        word = words.WORDS.get(f"{key.title}.{each.name}") or words.WORDS.get(each.name)
        if word is not None:
            return word(self.world, self.random)
        wire = each.wire.element if isinstance(each.wire, Array) else each.wire
        match wire.zero():
            case bool():
                return self.random.random() < 0.5
            case int():
                return self.random.choice((0, 1, -1, each.default_value() if wire is each.wire else 0))
            case str():
                return self.random.choice(("", "x"))
            case bytes() as zero if not zero:
                return self.random.choice((b"", b"\0\1range"))
            case other:
                return other

    def _related(self, made: Any, key: ApiKey) -> Any:
        """Fields whose values belong together."""
        names = {each.name for each in made.schema.fields}
        if names >= {"name", "value"}:  # a setting
            made.name = words.config_name(self.world, self.random)
            made.value = self.random.choice(
                (*words.TOPIC_CONFIGS.get(made.name, ("1", "x")), *([None] * (self.random.random() < 0.2)))
            )
        if key is ApiKey.CREATE_TOPICS and "configs" in names:
            made.assignments = made.assignments if self.random.random() < 0.1 else []
            made.configs = made.configs if self.random.random() < 0.3 else []
        if names >= {"resource_type", "configs"} or names >= {"resource_type", "configuration_keys"}:
            made.resource_name = self.resource_name(made.resource_type)
        return made

    def resource_name(self, kind: int) -> str:
        """A name that a resource of this type may have."""
        topic = words.topic_name(self.world, self.random)
        own = {2: (topic,), 4: ("1", "", "2", "x"), 8: ("1", "2", ""), 32: ("g0", "")}
        return self.random.choice(own.get(kind, ("m", "")) if self.random.random() < 0.9 else (topic, "1"))
