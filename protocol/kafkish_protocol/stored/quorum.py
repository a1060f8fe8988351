"""The metadata quorum: its control records, and the file that keeps a node's vote."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Data, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, String, Uint16, Uuid


class LeaderChangeMessageVoter(Struct, name="Voter"):
    voter_id: int = field(Int32, "0+")
    voter_directory_id: Uuid = field(UUID, "1+")


class LeaderChangeMessage(Data, versions="0-1", flexible="0+"):
    version: int = field(Int16, "0+")
    leader_id: int = field(Int32, "0+", entity="brokerId")
    voters: list[LeaderChangeMessageVoter] = field(Array(LeaderChangeMessageVoter), "0+")
    granting_voters: list[LeaderChangeMessageVoter] = field(Array(LeaderChangeMessageVoter), "0+")


class KRaftVersionRecord(Data, versions="0", flexible="0+"):
    version: int = field(Int16, "0+")
    k_raft_version: int = field(Int16, "0+")


class Endpoint(Struct):
    name: str = field(String, "0+")
    host: str = field(String, "0+")
    port: int = field(Uint16, "0+")


class KRaftVersionFeature(Struct):
    min_supported_version: int = field(Int16, "0+")
    max_supported_version: int = field(Int16, "0+")


class VotersRecordVoter(Struct, name="Voter"):
    voter_id: int = field(Int32, "0+", entity="brokerId")
    voter_directory_id: Uuid = field(UUID, "0+")
    endpoints: list[Endpoint] = field(Array(Endpoint), "0+")
    k_raft_version_feature: KRaftVersionFeature = field(KRaftVersionFeature, "0+")


class VotersRecord(Data, versions="0", flexible="0+"):
    version: int = field(Int16, "0+")
    voters: list[VotersRecordVoter] = field(Array(VotersRecordVoter), "0+")


class QuorumStateDataVoter(Struct, name="Voter"):
    voter_id: int = field(Int32, "0")


class QuorumStateData(Data, versions="0-1", flexible="0+"):
    cluster_id: str = field(String, "0")
    leader_id: int = field(Int32, "0+", default=-1)
    leader_epoch: int = field(Int32, "0+", default=-1)
    voted_id: int = field(Int32, "0+", default=-1)
    voted_directory_id: Uuid = field(UUID, "1+")
    applied_offset: int = field(Int64, "0")
    current_voters: list[QuorumStateDataVoter] | None = field(Array(QuorumStateDataVoter), "0", nullable="0")
