"""Events, effects and messages in a line each, for people."""

from typing import Any

from kafkish_raft import effects, events, messages
from kafkish_raft.messages import ErrorCode
from kafkish_raft.ports import OffsetAndEpoch
from kafkish_raft.voters import KRaftVersion, LeaderChange, ReplicaKey, Voter, Voters, VoterSet


def describe(thing: object) -> str:
    """What happened, without what is obvious."""
    match thing:
        case events.Start():
            return "start"
        case events.RequestReceived(request=request, handle=handle):
            return f"receive {message(request)}{_from(handle)}"
        case events.ResponseReceived(source=source, response=None):
            return f"no answer from {_peer(source)}"
        case events.ResponseReceived(source=source, response=response):
            return f"receive {message(response)} from {_peer(source)}"
        case events.AppendRequested(epoch=epoch):
            return f"propose in epoch {epoch}"
        case events.LogChanged() | events.Tick():
            return {"LogChanged": "log changed", "Tick": "tick"}[type(thing).__name__]
        case effects.PersistElection(election=election):
            vote = f", vote for n{election.voted_key.id}" if election.voted_key else ""
            return f"persist epoch {election.epoch}, leader {_leader(election.leader_id)}{vote}"
        case effects.AppendControl(base_offset=offset, records=records):
            return f"append at {offset}: {', '.join(control(record) for record in records)}"
        case effects.AppendBatch(base_offset=offset):
            return f"append at {offset}: batch"
        case effects.AppendFetched(records=records):
            return f"append fetched {records}"
        case effects.WriteSnapshotChunk(position=position, data=data):
            return f"write snapshot bytes [{position}, {position + len(data)})"
        case effects.Send(destination=destination, request=request):
            return f"send {message(request)} to {_peer(destination)}"
        case effects.Reply(response=response, handle=handle):
            return f"reply {message(response)}{_from(handle, 'to')}"
        case effects.HighWatermark(offset=offset):
            return f"committed below {offset}"
        case effects.LeaderChanged(epoch=epoch, start_offset=int(offset)):
            return f"leads epoch {epoch} from offset {offset}"
        case effects.LeaderChanged(epoch=epoch, leader_id=leader_id):
            return f"leader of epoch {epoch} is {_leader(leader_id)}"
        case _:
            return _fields(thing)


def message(thing: object) -> str:
    """A request or response: its name, and the fields that tell something."""
    name = type(thing).__name__
    if isinstance(thing, messages.VoteRequest) and thing.pre_vote:
        name = "PreVoteRequest"
    shown = []
    for field in _slots(thing):
        value = getattr(thing, field)
        if field in _QUIET or value in _EMPTY or (field == "error_code" and value == ErrorCode.NONE):
            continue
        shown.append(f"{_NAMES.get(field, field)}={_value(field, value)}")
    return f"{name}({', '.join(shown)})"


def control(record: object) -> str:
    match record:
        case LeaderChange(leader_id=leader_id):
            return f"leader n{leader_id}"
        case KRaftVersion(version=version):
            return f"kraft.version {version}"
        case Voters(voters=voters):
            return f"voters {voter_set(voters)}"
    return str(record)


def voter_set(voters: VoterSet) -> str:
    return " ".join(key(voter.key) for voter in voters)


def key(replica: ReplicaKey) -> str:
    """A node, and the number of its disk."""
    disk = int.from_bytes(replica.directory_id, "big")
    return f"n{replica.id}" + (f"/{disk}" if disk else "")


_QUIET = ("leader_endpoints", "max_wait_ms", "max_bytes", "log_start_offset", "pre_vote", "voter_key", "replica_key")
_EMPTY: tuple[Any, ...] = (b"", None)
_NAMES = {"current_leader_epoch": "epoch", "leader_epoch": "epoch", "replica_epoch": "epoch", "leader_id": "leader"}


def _value(field: str, value: Any) -> str:
    if field == "error_code":
        return ErrorCode(value).name
    if field == "leader_id":
        return _leader(value)
    if isinstance(value, OffsetAndEpoch):
        return f"{value.offset}@{value.epoch}"
    if isinstance(value, messages.ReadFrom):
        return f"from {value.position}"
    if isinstance(value, Voter):
        return key(value.key)
    if isinstance(value, ReplicaKey):
        return key(value)
    if field == "preferred_candidates":
        return " ".join(key(item) for item in value) or "none"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return str(value)


def _slots(thing: object) -> list[str]:
    return [name for kind in reversed(type(thing).__mro__) for name in getattr(kind, "__slots__", ())]


def _fields(thing: object) -> str:
    shown = ", ".join(f"{name}={_value(name, getattr(thing, name))}" for name in _slots(thing) if name != "controls")
    return f"{type(thing).__name__}({shown})"


def _leader(leader_id: int | None) -> str:
    return "unknown" if leader_id in (None, -1) else f"n{leader_id}"


def _peer(node_id: int) -> str:
    return f"n{node_id}" if node_id >= 0 else f"bootstrap server {-1 - node_id}"


def _from(handle: object, word: str = "from") -> str:
    source = getattr(handle, "source", None)
    return f" {word} n{source}" if source is not None else f" {word} administrator"
