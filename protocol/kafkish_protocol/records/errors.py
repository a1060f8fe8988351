"""Why a batch is refused; a broker answers each with another error code."""

from kafkish_protocol.errors import CodecError


class CorruptBatchError(CodecError):
    """The bytes are not what was written: a wrong checksum, a size that cannot be (CORRUPT_MESSAGE)."""


class InvalidRecordError(CodecError):
    """The bytes are what was written, and break a rule (INVALID_RECORD)."""


class UnknownCompressionError(CodecError):
    """The batch names a compression that does not exist (UNSUPPORTED_COMPRESSION_TYPE)."""


class TooLargeError(InvalidRecordError):
    """The records unpack to more than the caller is willing to hold."""
