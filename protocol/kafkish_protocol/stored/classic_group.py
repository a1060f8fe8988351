"""Groups of the classic protocol, in `__consumer_offsets`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Struct
from kafkish_protocol.types import Array, Bytes, Int32, Int64, String


class GroupMetadataKey(CoordinatorKey, api_key=2, versions="0", flexible="none"):
    group: str = field(String, "0")


class MemberMetadata(Struct):
    member_id: str = field(String, "0+")
    group_instance_id: str | None = field(String, "3+", nullable="3+", default=None, ignorable=True)
    client_id: str = field(String, "0+")
    client_host: str = field(String, "0+")
    rebalance_timeout: int = field(Int32, "1+", default=-1, ignorable=True)
    session_timeout: int = field(Int32, "0+")
    subscription: bytes = field(Bytes, "0+")
    assignment: bytes = field(Bytes, "0+")


class GroupMetadataValue(CoordinatorValue, api_key=2, versions="0-4", flexible="4+"):
    protocol_type: str = field(String, "0+")
    generation: int = field(Int32, "0+")
    protocol: str | None = field(String, "0+", nullable="0+")
    leader: str | None = field(String, "0+", nullable="0+")
    current_state_timestamp: int = field(Int64, "2+", default=-1, ignorable=True)
    members: list[MemberMetadata] = field(Array(MemberMetadata), "0+")
