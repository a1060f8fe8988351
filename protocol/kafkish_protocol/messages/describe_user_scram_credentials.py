"""DescribeUserScramCredentials (50): which SCRAM credentials users have, without secrets."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, String


class UserName(Struct):
    name: str = field(String, "0+")


class DescribeUserScramCredentialsRequest(
    Request, api_key=50, versions="0", flexible="0+", listeners="broker controller"
):
    users: list[UserName] | None = field(Array(UserName), "0+", nullable="0+")


class CredentialInfo(Struct):
    mechanism: int = field(Int8, "0+")
    iterations: int = field(Int32, "0+")


class DescribeUserScramCredentialsResult(Struct):
    user: str = field(String, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    credential_infos: list[CredentialInfo] = field(Array(CredentialInfo), "0+")


class DescribeUserScramCredentialsResponse(Response, api_key=50, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    results: list[DescribeUserScramCredentialsResult] = field(Array(DescribeUserScramCredentialsResult), "0+")
