"""The codecs of one message, by version, derived at first use."""

from typing import TYPE_CHECKING, Any, Protocol

from kafkish_protocol.derive.decoder import derive_decoder
from kafkish_protocol.derive.encoder import derive_encoder
from kafkish_protocol.errors import CodecError

if TYPE_CHECKING:
    from kafkish_protocol.schema import MessageSchema


class Decoder(Protocol):
    """Reads a message from a frame at an offset; also returns the offset of what follows."""

    def __call__(self, frame: bytes | bytearray, offset: int = 0, max_elements: int = ..., /) -> tuple[Any, int]: ...


class Encoder(Protocol):
    """Appends a message to `out`; with `cuts`, leaves records out and notes (place in `out`, records) there."""

    def __call__(self, message: Any, out: bytearray, cuts: list[tuple[int, Any]] | None = None, /) -> None: ...


class Decoders(dict[int, Decoder]):
    """Version -> reader."""

    def __init__(self, schema: "MessageSchema") -> None:
        super().__init__()
        self._schema = schema

    def __missing__(self, version: int) -> Decoder:
        check_version(self._schema, version)
        decoder: Decoder = derive_decoder(self._schema, version)
        return self.setdefault(version, decoder)


class Encoders(dict[int, Encoder]):
    """Version -> writer."""

    def __init__(self, schema: "MessageSchema") -> None:
        super().__init__()
        self._schema = schema

    def __missing__(self, version: int) -> Encoder:
        check_version(self._schema, version)
        encoder: Encoder = derive_encoder(self._schema, version)
        return self.setdefault(version, encoder)


def check_version(schema: "MessageSchema", version: int) -> None:
    """Only versions that the message defines have a codec."""
    if version not in schema.versions:
        raise CodecError(f"version {version} is not one of {schema.versions}", message=schema.name)
