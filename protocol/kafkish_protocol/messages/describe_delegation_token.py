"""DescribeDelegationToken (41): tokens and their owners."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bytes, Int16, Int32, Int64, String


class DescribeDelegationTokenOwner(Struct):
    principal_type: str = field(String, "0+")
    principal_name: str = field(String, "0+")


class DescribeDelegationTokenRequest(Request, api_key=41, versions="1-3", flexible="2+", listeners="broker controller"):
    owners: list[DescribeDelegationTokenOwner] | None = field(Array(DescribeDelegationTokenOwner), "0+", nullable="0+")


class DescribedDelegationTokenRenewer(Struct):
    principal_type: str = field(String, "0+")
    principal_name: str = field(String, "0+")


class DescribedDelegationToken(Struct):
    principal_type: str = field(String, "0+")
    principal_name: str = field(String, "0+")
    token_requester_principal_type: str = field(String, "3+")
    token_requester_principal_name: str = field(String, "3+")
    issue_timestamp: int = field(Int64, "0+")
    expiry_timestamp: int = field(Int64, "0+")
    max_timestamp: int = field(Int64, "0+")
    token_id: str = field(String, "0+")
    hmac: bytes = field(Bytes, "0+")
    renewers: list[DescribedDelegationTokenRenewer] = field(Array(DescribedDelegationTokenRenewer), "0+")


class DescribeDelegationTokenResponse(Response, api_key=41, versions="1-3", flexible="2+"):
    error_code: int = field(Int16, "0+")
    tokens: list[DescribedDelegationToken] = field(Array(DescribedDelegationToken), "0+")
    throttle_time_ms: int = field(Int32, "0+")
