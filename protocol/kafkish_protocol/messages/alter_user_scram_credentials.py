"""AlterUserScramCredentials (51): set or remove SCRAM credentials."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bytes, Int8, Int16, Int32, String


class ScramCredentialDeletion(Struct):
    name: str = field(String, "0+")
    mechanism: int = field(Int8, "0+")


class ScramCredentialUpsertion(Struct):
    name: str = field(String, "0+")
    mechanism: int = field(Int8, "0+")
    iterations: int = field(Int32, "0+")
    salt: bytes = field(Bytes, "0+")
    salted_password: bytes = field(Bytes, "0+")


class AlterUserScramCredentialsRequest(Request, api_key=51, versions="0", flexible="0+", listeners="broker controller"):
    deletions: list[ScramCredentialDeletion] = field(Array(ScramCredentialDeletion), "0+")
    upsertions: list[ScramCredentialUpsertion] = field(Array(ScramCredentialUpsertion), "0+")


class AlterUserScramCredentialsResult(Struct):
    user: str = field(String, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")


class AlterUserScramCredentialsResponse(Response, api_key=51, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    results: list[AlterUserScramCredentialsResult] = field(Array(AlterUserScramCredentialsResult), "0+")
