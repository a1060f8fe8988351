"""Fast codecs, derived from the constructs that define the messages.

For one message and one version, `decoder` and `encoder` write the source of a straight-line Python function and compile
it: runs of fixed-width fields become one `struct` call, nested structs become loops in the same function, fields of
other versions become their defaults. The source never leaves memory. `source.Source` remembers which field each line
serves, so an error costs nothing until it happens and then says where.
"""

from kafkish_protocol.derive.codecs import Decoder, Decoders, Encoder, Encoders
from kafkish_protocol.derive.init import derive_init

__all__ = ["Decoder", "Decoders", "Encoder", "Encoders", "derive_init"]
