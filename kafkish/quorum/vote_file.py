"""The file `quorum-state`: the epoch, its leader and the vote given in it, as Kafka 4.3 writes them (KIP-595, KIP-853).

A vote that was told and then forgotten could elect two leaders. So the file is replaced as a whole and synced.
"""

import json
from typing import Any, Final

from kafkish_protocol.types import Uuid
from kafkish_protocol.uuids import format_uuid, parse_uuid
from kafkish_raft.ports import ElectionState
from kafkish_raft.voters import DirectoryId, ReplicaKey
from kafkish_storage import Files, write_atomically
from kafkish_storage.errors import CorruptFileError

FILE_NAME: Final = "quorum-state"
DATA_VERSION: Final = 1
_NOBODY: Final = -1
_NO_DIRECTORY: Final = "AAAAAAAAAAAAAAAAAAAAAA"


class VoteFile:
    """`kafkish_raft`'s VoteStore, on disk."""

    def __init__(self, files: Files, directory: str) -> None:
        self._files = files
        self._path = f"{directory}/{FILE_NAME}"

    def read(self) -> ElectionState | None:
        """What was written last; None in a new directory."""
        data = self._files.read(self._path)
        if data is None:
            return None
        try:
            return _parse(json.loads(data))
        except (ValueError, KeyError, TypeError) as error:
            remedy = "If other voters have the metadata, move this node's metadata directory away and let it join again"
            raise CorruptFileError(self._path, f"not a vote ({error!r})", remedy) from error

    def write(self, election: ElectionState) -> None:
        """Replace the file. It is durable when this returns."""
        voted = election.voted_key
        content = {
            "leaderId": _NOBODY if election.leader_id is None else election.leader_id,
            "leaderEpoch": election.epoch,
            "votedId": voted.id if voted else _NOBODY,
            "votedDirectoryId": format_uuid(Uuid(voted.directory_id)) if voted else _NO_DIRECTORY,
            "data_version": DATA_VERSION,
        }
        write_atomically(self._files, self._path, json.dumps(content, separators=(",", ":")).encode())


def _parse(content: dict[str, Any]) -> ElectionState:
    """Version 0, of static quorums, knows no directories."""
    if content["data_version"] not in (0, DATA_VERSION):
        raise ValueError(f"data_version {content['data_version']} is not known")
    leader_id, voted_id = int(content["leaderId"]), int(content["votedId"])
    directory_id = DirectoryId(bytes(parse_uuid(content.get("votedDirectoryId", _NO_DIRECTORY))))
    return ElectionState(
        epoch=int(content["leaderEpoch"]),
        leader_id=None if leader_id == _NOBODY else leader_id,
        voted_key=None if voted_id == _NOBODY else ReplicaKey(voted_id, directory_id),
    )
