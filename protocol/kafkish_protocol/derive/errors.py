"""From an exception inside a derived function to a CodecError that says which field, and where in the bytes."""

import struct
from typing import Any, NoReturn

from kafkish_protocol.derive.source import Part, Place
from kafkish_protocol.errors import CodecError, Malformed

DECODE_FAULTS = (Malformed, struct.error, IndexError)
ENCODE_FAULTS = (Malformed, struct.error, AttributeError, TypeError, ValueError)


def raise_decode_error(error: Exception, names: dict[str, Any], places: list[Place], message: str) -> NoReturn:
    """`names` are the function's local variables: the frame, the position, and the loop counters."""
    place = _place(error, places)
    path, offset, frame_bytes = place.path, names["p"], len(names["buf"])
    for part in place.run:
        path = part.path
        if offset + part.size > frame_bytes:
            break
        offset += part.size
    reason = str(error) if isinstance(error, Malformed) else f"the bytes end here, after {frame_bytes}"
    raise CodecError(reason, message=message, path=path.format_map(names), offset=offset) from None


def raise_encode_error(error: Exception, names: dict[str, Any], places: list[Place], message: str) -> NoReturn:
    """`names` are the function's local variables: what was written so far, and the loops' lists and items."""
    place = _place(error, places)
    indexes = {f"i{key[1:]}": _index(value, names.get(f"o{key[1:]}")) for key, value in names.items() if key[0] == "a"}
    path, reason = place.path, str(error)
    for part in place.run:
        fault = _fault(part, names)
        if fault is not None:
            path, reason = part.path, fault
            break
    offset = len(names["out"])
    raise CodecError(reason, message=message, path=path.format_map(indexes), offset=offset) from None


def _place(error: Exception, places: list[Place]) -> Place:
    assert error.__traceback__ is not None
    return places[error.__traceback__.tb_lineno - 1]


def _index(items: Any, item: Any) -> int:
    """Encoders iterate without counting; an item's index is looked for only when something is wrong with it."""
    return next((index for index, other in enumerate(items or ()) if other is item), 0)


def _fault(part: Part, names: dict[str, Any]) -> str | None:
    """What is wrong with this part's value, if anything."""
    if not part.expression:
        return None
    try:
        value = eval(part.expression, {"len": len}, names)  # an expression of the derived function itself
        struct.pack(">" + part.format, value)
    except ENCODE_FAULTS as error:
        return str(error)
    return None
