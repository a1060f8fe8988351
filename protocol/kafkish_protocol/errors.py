"""What reading or writing Kafka's bytes can raise."""


class CodecError(ValueError):
    """Bytes that are not a legal message, or a message that its version cannot carry.

    The only exception that leaves this room for bad input. It says where: the message with its version, the path of
    the field, and the byte at which the field starts.
    """

    def __init__(self, reason: str, *, message: str = "", path: str = "", offset: int | None = None) -> None:
        self.reason = reason
        self.message = message
        self.path = path
        self.offset = offset
        where = " ".join(part for part in (message, path) if part)
        at = "" if offset is None else f" at byte {offset}"
        super().__init__(f"{where}{at}: {reason}" if where or at else reason)


class Malformed(Exception):
    """A rule of the format is broken. Never leaves this room: whoever knows the field turns it into a CodecError."""
