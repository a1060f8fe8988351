"""Control records of the metadata log and of snapshots, as bytes.

LeaderChange     the first record of an epoch
KRaftVersion     the finalized kraft.version
Voters           the voter set from there on
snapshot header  and footer: the first and the last record of a snapshot (KIP-630)
"""

import struct
from collections.abc import Iterable, Iterator, Sequence

from kafkish_protocol.records import Batch, ControlType, Record, build_batch, read_control_type
from kafkish_protocol.schema import Data
from kafkish_protocol.stored import quorum as stored
from kafkish_protocol.stored.snapshot import SnapshotFooterRecord, SnapshotHeaderRecord
from kafkish_protocol.types import Uuid
from kafkish_raft.voters import (
    Control,
    ControlRecord,
    DirectoryId,
    Endpoint,
    KRaftVersion,
    LeaderChange,
    ReplicaKey,
    Voter,
    Voters,
    VoterSet,
)


def control_batch(
    records: Sequence[tuple[ControlType, Data]], *, timestamp_ms: int, base_offset: int = 0, epoch: int = 0
) -> bytearray:
    """One batch of control records. All of them are written in version 0, as Kafka 4.3 does."""
    made = [
        Record(offset, timestamp_ms, struct.pack(">hh", 0, kind), data.encode(0))
        for offset, (kind, data) in enumerate(records, base_offset)
    ]
    return build_batch(made, leader_epoch=epoch, control=True)


def to_stored(record: ControlRecord) -> tuple[ControlType, Data]:
    """What to write for a record of the state machine."""
    match record:
        case LeaderChange():
            message = stored.LeaderChangeMessage(
                leader_id=record.leader_id,
                voters=[stored.LeaderChangeMessageVoter(voter_id=key.id) for key in record.voters],
                granting_voters=[stored.LeaderChangeMessageVoter(voter_id=key.id) for key in record.granting_voters],
            )
            return ControlType.LEADER_CHANGE, message
        case KRaftVersion():
            return ControlType.KRAFT_VERSION, stored.KRaftVersionRecord(k_raft_version=record.version)
        case Voters():
            voters = [_to_stored_voter(voter) for voter in record.voters]
            return ControlType.KRAFT_VOTERS, stored.VotersRecord(voters=voters)


def snapshot_header(last_timestamp_ms: int) -> tuple[ControlType, Data]:
    """The first record; the time is that of the last record of the log that the snapshot contains."""
    return ControlType.SNAPSHOT_HEADER, SnapshotHeaderRecord(last_contained_log_timestamp=last_timestamp_ms)


def snapshot_footer() -> tuple[ControlType, Data]:
    return ControlType.SNAPSHOT_FOOTER, SnapshotFooterRecord()


def read_controls(batch: Batch, at_offset: int | None = None) -> Iterator[Control]:
    """The records of a control batch that the state machine wants, at their places or all at one offset.

    Types that are not known are passed over, as Kafka does: a newer version may have more.
    """
    for record in batch.records():
        kind, value = read_control_type(record), record.value or b""
        found: ControlRecord | None = None
        if kind == ControlType.LEADER_CHANGE:
            found = _leader_change(value)
        elif kind == ControlType.KRAFT_VERSION:
            found = KRaftVersion(stored.KRaftVersionRecord.decode(value, 0).k_raft_version)
        elif kind == ControlType.KRAFT_VOTERS:
            found = Voters(VoterSet.of(map(_from_stored_voter, stored.VotersRecord.decode(value, 0).voters)))
        if found is not None:
            yield Control(record.offset if at_offset is None else at_offset, found)


def control_kinds(batches: Iterable[Batch]) -> list[int]:
    """The types of all records of control batches."""
    return [read_control_type(record) for batch in batches for record in batch.records()]


def _leader_change(value: bytes) -> LeaderChange:
    message = stored.LeaderChangeMessage.decode(value, min(1, struct.unpack_from(">h", value)[0]))
    return LeaderChange(message.leader_id, _keys(message.voters), _keys(message.granting_voters))


def _keys(voters: list[stored.LeaderChangeMessageVoter]) -> tuple[ReplicaKey, ...]:
    return tuple(ReplicaKey(voter.voter_id, DirectoryId(bytes(voter.voter_directory_id))) for voter in voters)


def _to_stored_voter(voter: Voter) -> stored.VotersRecordVoter:
    return stored.VotersRecordVoter(
        voter_id=voter.key.id,
        voter_directory_id=Uuid(voter.key.directory_id),
        endpoints=[stored.Endpoint(name=name, host=host, port=port) for name, host, port in voter.endpoints],
        k_raft_version_feature=stored.KRaftVersionFeature(
            min_supported_version=voter.min_supported_version, max_supported_version=voter.max_supported_version
        ),
    )


def _from_stored_voter(voter: stored.VotersRecordVoter) -> Voter:
    return Voter(
        ReplicaKey(voter.voter_id, DirectoryId(bytes(voter.voter_directory_id))),
        tuple(Endpoint(endpoint.name, endpoint.host, endpoint.port) for endpoint in voter.endpoints),
        voter.k_raft_version_feature.min_supported_version,
        voter.k_raft_version_feature.max_supported_version,
    )
