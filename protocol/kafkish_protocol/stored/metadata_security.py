"""Access rules, credentials and tokens, in `__cluster_metadata`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.types import UUID, Array, Bytes, Int8, Int32, Int64, String, Uuid


class AccessControlEntryRecord(MetadataRecord, api_key=18, versions="0", flexible="0+"):
    id: Uuid = field(UUID, "0+")
    resource_type: int = field(Int8, "0+")
    resource_name: str = field(String, "0+")
    pattern_type: int = field(Int8, "0+")
    principal: str = field(String, "0+")
    host: str = field(String, "0+")
    operation: int = field(Int8, "0+")
    permission_type: int = field(Int8, "0+")


class RemoveAccessControlEntryRecord(MetadataRecord, api_key=19, versions="0", flexible="0+"):
    id: Uuid = field(UUID, "0+")


class UserScramCredentialRecord(MetadataRecord, api_key=11, versions="0", flexible="0+"):
    name: str = field(String, "0+")
    mechanism: int = field(Int8, "0+")
    salt: bytes = field(Bytes, "0+")
    stored_key: bytes = field(Bytes, "0+")
    server_key: bytes = field(Bytes, "0+")
    iterations: int = field(Int32, "0+")


class RemoveUserScramCredentialRecord(MetadataRecord, api_key=22, versions="0", flexible="0+"):
    name: str = field(String, "0+")
    mechanism: int = field(Int8, "0+")


class DelegationTokenRecord(MetadataRecord, api_key=10, versions="0", flexible="0+"):
    owner: str = field(String, "0+")
    requester: str = field(String, "0+")
    renewers: list[str] = field(Array(String), "0+")
    issue_timestamp: int = field(Int64, "0+")
    max_timestamp: int = field(Int64, "0+")
    expiration_timestamp: int = field(Int64, "0+")
    token_id: str = field(String, "0+")


class RemoveDelegationTokenRecord(MetadataRecord, api_key=26, versions="0", flexible="0+"):
    token_id: str = field(String, "0+")
