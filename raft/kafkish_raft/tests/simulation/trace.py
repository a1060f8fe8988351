"""Events, effects and messages in a line each, for people."""

import re
from collections.abc import Sequence
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
        case effects.Truncate(end_offset=offset):
            return f"truncate to {offset}"
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
    name = type(thing).__name__.removesuffix("Request")
    if isinstance(thing, messages.VoteRequest) and thing.pre_vote:
        name = "PreVote"
    shown = []
    for field in _slots(thing):
        value = getattr(thing, field)
        is_quiet = field in _QUIET and not isinstance(thing, messages.RemoveRaftVoterRequest)
        if not is_quiet and value not in _EMPTY and (field, value) != ("error_code", ErrorCode.NONE):
            shown.append(_field(field, value))
    return " ".join([name, *shown])


def is_chatter(event: object, wanted: Sequence[object]) -> bool:
    """Fetches that bring nothing, ticks without consequence: most of what happens, and seldom of interest."""
    return _is_idle(event) and all(_is_idle(effect) for effect in wanted)


def _is_idle(thing: object) -> bool:
    match thing:
        case events.Tick() | events.LogChanged():
            return True
        case (
            events.RequestReceived(request=carried)
            | events.ResponseReceived(response=carried)
            | effects.Send(request=carried)
            | effects.Reply(response=carried)
        ):
            if isinstance(carried, messages.FetchResponse):
                return not (carried.records or carried.diverging_epoch or carried.snapshot_id)
            return carried is None or isinstance(carried, messages.FetchRequest)
    return False


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


_QUIET = (
    "leader_endpoints",
    "max_wait_ms",
    "max_bytes",
    "log_start_offset",
    "pre_vote",
    "voter_key",
    "replica_key",
    "error_message",
)
_EMPTY: tuple[Any, ...] = (b"", None, -1)
_NAMES = {
    "current_leader_epoch": "epoch",
    "leader_epoch": "epoch",
    "replica_epoch": "epoch",
    "leader_id": "leader",
    "fetch_offset": "from",
    "last_fetched_epoch": "after epoch",
    "last_offset": "end",
    "last_offset_epoch": "last epoch",
    "high_watermark": "committed",
    "diverging_epoch": "diverges",
    "snapshot_id": "snapshot",
    "preferred_candidates": "preferred",
    "size_bytes": "of",
    "voter_key": "voter",
}


def _field(field: str, value: Any) -> str:
    match field, value:
        case "error_code", _:
            return ErrorCode(value).name
        case "vote_granted", _:
            return "granted" if value else "refused"
        case (("records" | "unaligned_records"), messages.ReadFrom()):
            return f"with what lies from {value.position} on"
        case (("records" | "unaligned_records"), _):
            return f"with {len(value)} bytes" if isinstance(value, bytes) else f"with {value}"
    return f"{_NAMES.get(field, field)} {_value(field, value)}"


def _value(field: str, value: Any) -> str:
    match value:
        case OffsetAndEpoch():
            return f"{value.offset}@{value.epoch}"
        case Voter():
            return key(value.key)
        case ReplicaKey():
            return key(value)
        case tuple() if field == "preferred_candidates":
            return " ".join(key(item) for item in value) or "none"
    return _leader(value) if field == "leader_id" else str(value)


def _slots(thing: object) -> list[str]:
    slots = [name for kind in reversed(type(thing).__mro__) for name in getattr(kind, "__slots__", ())]
    return list(getattr(thing, "_fields", slots))


def _fields(thing: object) -> str:
    shown = [_field(name, getattr(thing, name)) for name in _slots(thing) if name != "controls"]
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", type(thing).__name__).lower()
    return " ".join([words, *shown])


def _leader(leader_id: int | None) -> str:
    return "unknown" if leader_id in (None, -1) else f"n{leader_id}"


def _peer(node_id: int) -> str:
    return f"n{node_id}" if node_id >= 0 else f"bootstrap server {-1 - node_id}"


def _from(handle: object, word: str = "from") -> str:
    source = getattr(handle, "source", None)
    return f" {word} n{source}" if source is not None else f" {word} administrator"
