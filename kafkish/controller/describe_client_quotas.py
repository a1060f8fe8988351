"""DescribeClientQuotas (48): the limits of users, clients and addresses that match a filter (KIP-546). Reads only.

Each component of the filter is a kind of entity with a name (0), its default (1), or any name (2). A strict filter
leaves out entities of further kinds.
"""

from collections.abc import Mapping
from typing import Final

from kafkish.controller.alter_client_quotas import CLIENT_ID, IP, USER
from kafkish.controller.operation import ApiError
from kafkish.metadata.image import MetadataImage, QuotaEntity
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

EXACT, DEFAULT, SPECIFIED = 0, 1, 2

_NAMES: Final = {DEFAULT: "MATCH_TYPE_DEFAULT", SPECIFIED: "MATCH_TYPE_SPECIFIED"}


def describe_client_quotas(image: MetadataImage, request: DescribeClientQuotasRequest) -> DescribeClientQuotasResponse:
    """All entities that match, with their limits."""
    try:
        wanted = read_filter(request.components)
    except ApiError as error:
        return DescribeClientQuotasResponse(error_code=error.code, error_message=error.message, entries=None)
    entries = [
        EntryData(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
            values=[ValueData(key=key, value=value) for key, value in limits.items()],
        )
        for entity, limits in image.client_quotas.items()
        if matches(entity, wanted, request.strict)
    ]
    return DescribeClientQuotasResponse(entries=entries)


def read_filter(components: list[ComponentData]) -> dict[str, ComponentData]:
    """The filter by kind of entity."""
    wanted: dict[str, ComponentData] = {}
    for component in components:
        kind = component.entity_type
        if not kind:
            raise _refusal("Invalid empty entity type.")
        if kind in wanted:
            raise _refusal(f"Entity type {kind} cannot appear more than once in the filter.")
        if kind not in (USER, CLIENT_ID, IP):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
        check_match(component)
        wanted[kind] = component
    if IP in wanted and len(wanted) > 1:
        raise _refusal(
            "Invalid entity filter component combination. IP filter component should not be used with user or "
            "clientId filter component."
        )
    return wanted


def check_match(component: ComponentData) -> None:
    """Refuse a name where none belongs, and none where one does."""
    if component.match_type not in (EXACT, DEFAULT, SPECIFIED):
        raise _refusal(f"Unknown match type {component.match_type}")
    if component.match_type == EXACT and component.match is None:
        raise _refusal("Request specified MATCH_TYPE_EXACT, but set match string to null.")
    if component.match_type != EXACT and component.match is not None:
        raise _refusal(f"Request specified {_NAMES[component.match_type]}, but also specified a match string.")


def matches(entity: QuotaEntity, wanted: Mapping[str, ComponentData], strict: bool) -> bool:
    """Whether an entity is what the filter wants."""
    parts = dict(entity)
    if strict and len(parts) != len(wanted):
        return False
    return all(
        kind in parts and (component.match_type == SPECIFIED or parts[kind] == component.match)
        for kind, component in wanted.items()
    )


def _refusal(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, reason)
