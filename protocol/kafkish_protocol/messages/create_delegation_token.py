"""CreateDelegationToken (38): make a token that authenticates for its owner."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bytes, Int16, Int32, Int64, String


class CreatableRenewers(Struct):
    principal_type: str = field(String, "0+")
    principal_name: str = field(String, "0+")


class CreateDelegationTokenRequest(Request, api_key=38, versions="1-3", flexible="2+", listeners="broker controller"):
    owner_principal_type: str | None = field(String, "3+", nullable="3+")
    owner_principal_name: str | None = field(String, "3+", nullable="3+")
    renewers: list[CreatableRenewers] = field(Array(CreatableRenewers), "0+")
    max_lifetime_ms: int = field(Int64, "0+")


class CreateDelegationTokenResponse(Response, api_key=38, versions="1-3", flexible="2+"):
    error_code: int = field(Int16, "0+")
    principal_type: str = field(String, "0+")
    principal_name: str = field(String, "0+")
    token_requester_principal_type: str = field(String, "3+")
    token_requester_principal_name: str = field(String, "3+")
    issue_timestamp_ms: int = field(Int64, "0+")
    expiry_timestamp_ms: int = field(Int64, "0+")
    max_timestamp_ms: int = field(Int64, "0+")
    token_id: str = field(String, "0+")
    hmac: bytes = field(Bytes, "0+")
    throttle_time_ms: int = field(Int32, "0+")
