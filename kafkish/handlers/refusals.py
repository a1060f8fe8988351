"""The response that refuses a whole request, made from the schemas.

Where a response has an error of its own, that is set. Where it has none, every row that the request asks for is
answered, and each has the error: as Kafka's `getErrorResponse` does, API by API.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from kafkish_protocol.api import ApiKey, response_class
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array

Refuse: TypeAlias = Callable[[Any, int, ErrorCode, str | None], Response | None]

_WITH_ROWS: Final = {
    ApiKey.METADATA,
    ApiKey.ELECT_LEADERS,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
}
"""Responses whose rows have the error even where the whole has it too: their clients look at rows."""

_NOTHING: Final = dict.fromkeys(
    ("node_id", "port", "producer_epoch", "base_offset", "high_watermark", "low_watermark"), -1
)
"""Fields whose 0 would say something."""

_OTHER_NAMES: Final = {"partition_index": "partition", "partition_id": "partition", "name": "topic"}
"""What a field of a response's row is called in some requests."""

_ABSENT: Final = object()


def refuse(request: Request, version: int, code: ErrorCode, message: str | None = None) -> Response:
    """The response of the request's API that carries this error."""
    key = ApiKey(request.schema.api_key or 0)
    response = response_class(key)()
    has_own_error = _refused(response, version, code, message)
    if not has_own_error or key in _WITH_ROWS:
        _add_rows(request, response, version, code, message)
    return response


def _refused(struct: Struct, version: int, code: ErrorCode, message: str | None) -> bool:
    """Set what there is in a struct to tell of an error; whether there is such a field."""
    names = {field.name for field in struct.schema.fields if version in field.versions}
    for name in names & _NOTHING.keys():
        setattr(struct, name, _NOTHING[name])
    if "error_code" not in names:
        return False
    struct.error_code = code  # type: ignore[attr-defined]  # the schema has it
    if "error_message" in names:
        struct.error_message = message  # type: ignore[attr-defined]
    return True


def _add_rows(asked: Struct, answer: Struct, version: int, code: ErrorCode, message: str | None) -> None:
    """A row, in the list of the answer that tells of errors, for each element of the first list of what is asked."""
    target = next(((name, row) for name, row in _lists(answer, version) if _tells_of_errors(row, version)), None)
    source = next((name for name, _ in _lists(asked, version)), None)
    if target is None or source is None:
        return
    field, row_class = target
    rows = getattr(answer, field)
    for element in getattr(asked, source) or ():
        row: Struct = row_class()
        _identify(element, row, version)
        _refused(row, version, code, message)
        if isinstance(element, Struct):
            _add_rows(element, row, version, code, message)
        rows.append(row)


def _lists(struct: Struct | type[Struct], version: int) -> Iterator[tuple[str, Any]]:
    """Names and element classes of the lists that a struct has in this version; None where elements are no structs."""
    for field in struct.schema.fields:
        if version in field.versions and isinstance(field.wire, Array):
            yield field.name, getattr(field.wire.element, "struct_class", None)


def _tells_of_errors(row: type[Struct] | None, version: int) -> bool:
    """Whether a row, or one inside it, has room for an error."""
    if row is None:
        return False
    own = any(field.name == "error_code" and version in field.versions for field in row.schema.fields)
    return own or any(_tells_of_errors(inner, version) for _, inner in _lists(row, version))


def _identify(element: Any, row: Struct, version: int) -> None:
    """Say in a row which element it answers: by all fields that both have, or by the first one."""
    fields = [field for field in row.schema.fields if version in field.versions and field.name != "error_code"]
    if not isinstance(element, Struct):
        setattr(row, fields[0].name, element)
        return
    for field in fields:
        other_name = _OTHER_NAMES.get(field.name, field.name)
        value = getattr(element, field.name, getattr(element, other_name, _ABSENT))
        if isinstance(value, str | int | bytes) or (value is None and version in field.nullable):
            setattr(row, field.name, value)
