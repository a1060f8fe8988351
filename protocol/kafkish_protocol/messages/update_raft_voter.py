"""UpdateRaftVoter (82): a voter tells its new endpoints and versions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, String, Uint16, Uuid


class Listener(Struct):
    name: str = field(String, "0+")
    host: str = field(String, "0+")
    port: int = field(Uint16, "0+")


class KRaftVersionFeature(Struct):
    min_supported_version: int = field(Int16, "0+")
    max_supported_version: int = field(Int16, "0+")


class UpdateRaftVoterRequest(Request, api_key=82, versions="0", flexible="0+", listeners="controller"):
    cluster_id: str | None = field(String, "0+", nullable="0+")
    current_leader_epoch: int = field(Int32, "0+")
    voter_id: int = field(Int32, "0+")
    voter_directory_id: Uuid = field(UUID, "0+")
    listeners: list[Listener] = field(Array(Listener), "0+")
    k_raft_version_feature: KRaftVersionFeature = field(KRaftVersionFeature, "0+")


class CurrentLeader(Struct):
    leader_id: int = field(Int32, "0+", default=-1, entity="brokerId")
    leader_epoch: int = field(Int32, "0+", default=-1)
    host: str = field(String, "0+")
    port: int = field(Int32, "0+")


class UpdateRaftVoterResponse(Response, api_key=82, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    current_leader: CurrentLeader = field(CurrentLeader, "0+", tag=0, tagged="0+")
