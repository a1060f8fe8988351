"""Who sent a request, as a broker tells the controller in an Envelope."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Data
from kafkish_protocol.types import Bool, String


class DefaultPrincipalData(Data, versions="0", flexible="0+"):
    type: str = field(String, "0+")
    name: str = field(String, "0+")
    token_authenticated: bool = field(Bool, "0+")
