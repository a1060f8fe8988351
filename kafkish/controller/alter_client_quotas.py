"""AlterClientQuotas (49): limits for users, clients and addresses (KIP-546).

An entity is a user, a client id, both, or an address; no name means the default of its kind. An entity's limits are
changed as a whole or not at all. Of an entity that is there twice the first counts, and the answer is an error.
"""

from collections.abc import Mapping
from typing import Final

from kafkish.controller.operation import ApiError, Context, Result, check_size
from kafkish.metadata.image import MetadataImage, QuotaEntity, quota_entity
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntryData,
    EntityData,
    OpData,
)
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_settings import ClientQuotaRecord
from kafkish_protocol.stored.metadata_settings import EntityData as StoredEntityData

USER, CLIENT_ID, IP = "user", "client-id", "ip"

INT = ("an INT", 2**31 - 1)
LONG = ("a LONG", 2**63 - 1)
DOUBLE = None

USER_LIMITS: Final = {
    "producer_byte_rate": LONG,
    "consumer_byte_rate": LONG,
    "request_percentage": DOUBLE,
    "controller_mutation_rate": DOUBLE,
}
IP_LIMITS: Final = {"connection_creation_rate": INT}


def alter_client_quotas(
    image: MetadataImage, request: AlterClientQuotasRequest, context: Context
) -> Result[AlterClientQuotasResponse]:
    """Change the limits of each entity."""
    rows: dict[QuotaEntity, AlterClientQuotasResponseEntryData] = {}
    records: list[MetadataRecord] = []
    for entry in request.entries:
        entity = quota_entity((part.entity_type, part.entity_name) for part in entry.entity)
        parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
        row = AlterClientQuotasResponseEntryData(entity=parts, error_message=None)
        try:
            if entity in rows or len({op.key for op in entry.ops}) < len(entry.ops):
                raise _refusal(f"Ignoring duplicate entity {shown(entity)}")
            made = changes(image, entity, entry.ops, context)
            check_size(len(records) + len(made))
            records += made
        except ApiError as error:
            row.error_code, row.error_message = error.code, error.message
        rows[entity] = row
    response = AlterClientQuotasResponse(entries=list(rows.values()))
    return Result([] if request.validate_only else records, response)


def changes(image: MetadataImage, entity: QuotaEntity, ops: list[OpData], context: Context) -> list[ClientQuotaRecord]:
    """The records of what is new for one entity."""
    limits = limits_of(dict(entity), context)
    present = image.client_quotas.get(entity, {})
    records = []
    for op in ops:
        if not op.remove:
            check_value(limits, op.key, op.value)
        if (op.key in present) if op.remove else (present.get(op.key) != op.value):
            parts = [StoredEntityData(entity_type=kind, entity_name=name) for kind, name in entity]
            value = 0.0 if op.remove else op.value
            records.append(ClientQuotaRecord(entity=parts, key=op.key, value=value, remove=op.remove))
    return records


def limits_of(entity: Mapping[str, str | None], context: Context) -> Mapping[str, tuple[str, int] | None]:
    """Which limits an entity may have, by its kind."""
    if not entity:
        raise _refusal("Invalid empty client quota entity")
    for kind, name in entity.items():
        if kind not in (USER, CLIENT_ID, IP):
            raise _refusal(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _refusal(f"Empty {kind} not supported")
    if IP not in entity:
        return USER_LIMITS
    if len(entity) > 1:
        raise _refusal("Invalid quota entity combination, IP entity should not be combined with User or ClientId")
    address = entity[IP]
    if address is not None and not context.resolves(address):
        raise _refusal(f"{address} is not a valid IP or resolvable host.")
    return IP_LIMITS


def check_value(limits: Mapping[str, tuple[str, int] | None], key: str, value: float) -> None:
    """Refuse a limit that is none."""
    if key not in limits:
        raise _refusal(f"Invalid configuration key {key}")
    if not value > 0:
        raise _refusal(f"Quota {key} must be greater than 0")
    whole = limits[key]
    if whole is not None:
        kind, largest = whole
        if value > largest:
            raise _refusal(f"Proposed value for {key} is too large for {kind}.")
        if value % 1.0 > 1e-6:
            raise _refusal(f"{key} cannot be a fractional value.")


def shown(entity: QuotaEntity) -> str:
    """An entity as Kafka writes it."""
    parts = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in entity)
    return f"ClientQuotaEntity(entries={{{parts}}})"


def _refusal(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, reason)
