"""Whose a data directory is, and what a new cluster starts from: what `kafka-storage format --standalone` does.

    <each directory>/meta.properties                    the cluster, the node, the directory's own id
    <metadata directory>/bootstrap.checkpoint           the first records, for the first controller to write
    <metadata directory>/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint
                                                        the first voter: this node (KIP-853); not in a static quorum

`meta.properties` is written last: a directory that has one is formatted, and formatting that was cut short is done
again. Nothing that is formatted is ever changed.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from kafkish.config.settings import Settings
from kafkish.controller.bootstrap import bootstrap_levels
from kafkish.controller.operation import random_uuid
from kafkish.metadata import versions
from kafkish.metadata.nodes import VersionRange
from kafkish.metadata.records import decode_record, encode_record
from kafkish.quorum.metadata_log import METADATA_PARTITION
from kafkish.quorum.ports import Clock, Dice
from kafkish.quorum.snapshots import Snapshot, snapshot_name, write_snapshot
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_settings import FeatureLevelRecord
from kafkish_protocol.types import Uuid
from kafkish_protocol.uuids import format_uuid, parse_uuid
from kafkish_raft.ports import BOOTSTRAP_SNAPSHOT
from kafkish_raft.voters import DirectoryId, Endpoint, Endpoints, ReplicaKey, Voter, VoterSet
from kafkish_storage import Files, MetaProperties, write_meta_properties
from kafkish_storage.directory import check_properties, lock_directory
from kafkish_storage.errors import DirectoryError

BOOTSTRAP_FILE: Final = "bootstrap.checkpoint"

SERVED_FEATURES: Final[Mapping[str, VersionRange]] = {
    versions.METADATA_VERSION: VersionRange(versions.OLDEST_LEVEL, versions.LATEST_LEVEL),
    versions.KRAFT_VERSION: VersionRange(0, 1),
    versions.ELR_VERSION: VersionRange(0, 1),
}
"""What this node does of Kafka's features; a new cluster finalizes no other."""


class Identity(NamedTuple):
    """Who this node is, by its directories."""

    cluster_id: str
    node_id: int
    directory_ids: Mapping[str, Uuid]  # by path, the metadata directory among them
    metadata_directory: str
    log_directories: tuple[str, ...]

    @property
    def log_directory_ids(self) -> list[Uuid]:
        """Of the directories that hold partitions: what the broker registers."""
        return [self.directory_ids[path] for path in self.log_directories]

    @property
    def replica_key(self) -> ReplicaKey:
        """This node as a voter: its id and the id of the directory with its metadata log."""
        return ReplicaKey(self.node_id, DirectoryId(bytes(self.directory_ids[self.metadata_directory])))


def identify(
    settings: Settings,
    files: Files,
    clock: Clock,
    dice: Dice,
    features: Mapping[str, VersionRange] = SERVED_FEATURES,
) -> Identity:
    """Read whose the data directories are. New ones are formatted; those of another cluster or node are refused.

    Call it before anything else opens the directories.
    """
    metadata_directory = settings.quorum.metadata_log_dir
    paths = list(dict.fromkeys((metadata_directory, *settings.log.log_dirs)))
    new = [parent for path in paths for parent in _parents_of_new(files, path)]
    locks = [lock_directory(files, path) for path in paths]
    for parent in new:
        files.sync_directory(parent)
    try:
        found = {path: _read(settings, files, path) for path in paths}
        if found[metadata_directory] is None:
            _refuse_lost_metadata(metadata_directory, found)
        return _Formatter(settings, files, clock, dice, features).complete(found)
    finally:
        for lock in locks:
            lock.release()


def _parents_of_new(files: Files, path: str) -> Iterable[str]:
    """The directories that will have a new name in them when this path is made."""
    top = "/" if path.startswith("/") else "."
    while path and files.stat(path) is None:
        path = path.rpartition("/")[0]
        yield path or top


def _read(settings: Settings, files: Files, path: str) -> MetaProperties | None:
    return check_properties(files, path, settings.node.cluster_id, settings.node.node_id)


def _refuse_lost_metadata(metadata_directory: str, found: Mapping[str, MetaProperties | None]) -> None:
    for path, properties in found.items():
        if properties is not None:
            raise DirectoryError(
                f"{path} belongs to cluster {properties.cluster_id}, but the metadata directory {metadata_directory} "
                "is empty: the cluster's metadata is somewhere else, or lost. Set metadata.log.dir to the directory "
                "that has __cluster_metadata-0, or restore it from a backup"
            )


class _Formatter:
    """Gives directories what they lack."""

    def __init__(
        self, settings: Settings, files: Files, clock: Clock, dice: Dice, features: Mapping[str, VersionRange]
    ) -> None:
        self._settings = settings
        self._files = files
        self._clock = clock
        self._dice = dice
        self._features = features

    def complete(self, found: Mapping[str, MetaProperties | None]) -> Identity:
        metadata_directory, node_id = self._settings.quorum.metadata_log_dir, self._settings.node.node_id
        clusters = {properties.cluster_id for properties in found.values() if properties is not None}
        if len(clusters) > 1:
            raise DirectoryError(f"the data directories belong to several clusters: {', '.join(sorted(clusters))}")
        cluster_id = next(iter(clusters), None) or self._settings.node.cluster_id or format_uuid(self._uuid())
        ids: dict[str, Uuid] = {}
        for path, properties in found.items():
            known = properties.directory_id if properties else None
            ids[path] = parse_uuid(known) if known else self._uuid()
            if properties is None and path == metadata_directory:
                self._write_first_metadata(path, ids[path])
            if known is None:  # new, or from before directories had ids (KIP-858)
                written = MetaProperties(cluster_id, node_id, format_uuid(ids[path]))
                write_meta_properties(self._files, path, written)
        return Identity(cluster_id, node_id, ids, metadata_directory, tuple(self._settings.log.log_dirs))

    def _uuid(self) -> Uuid:
        return random_uuid(self._dice.randbytes)

    def _write_first_metadata(self, path: str, directory_id: Uuid) -> None:
        now_ms = self._clock.wall_ms()
        levels = bootstrap_levels(self._features)
        records = [encode_record(record, 0) for record in feature_records(levels)]
        write_snapshot(self._files, f"{path}/{BOOTSTRAP_FILE}", BOOTSTRAP_SNAPSHOT, records, now_ms=now_ms)
        if not self._settings.quorum.controller_quorum_voters:
            self._refuse_unclear_quorum(path)
            directory = f"{path}/{METADATA_PARTITION}"
            self._files.make_directory(directory)
            self._files.sync_directory(path)
            own = ReplicaKey(self._settings.node.node_id, DirectoryId(bytes(directory_id)))
            voters = VoterSet.of([Voter(own, controller_endpoints(self._settings))])
            target = f"{directory}/{snapshot_name(BOOTSTRAP_SNAPSHOT)}"
            write_snapshot(self._files, target, BOOTSTRAP_SNAPSHOT, (), now_ms=now_ms, last_ms=now_ms, voters=voters)

    def _refuse_unclear_quorum(self, path: str) -> None:
        """One server may be this very node, as in Kafka's own example. With more, somebody must say who founds it."""
        if len(self._settings.quorum.controller_quorum_bootstrap_servers) > 1:
            raise DirectoryError(
                f"{path} is new, and controller.quorum.bootstrap.servers names several controllers: format it with "
                "`kafka-storage format` and say with --standalone, --initial-controllers or --no-initial-controllers "
                "whether this node founds the cluster or joins it"
            )


def feature_records(levels: Mapping[str, int]) -> Iterable[MetadataRecord]:
    """The levels of a new cluster, `metadata.version` first."""
    others = sorted(levels.keys() - {versions.METADATA_VERSION, versions.KRAFT_VERSION})
    for name in (versions.METADATA_VERSION, *(name for name in others if levels[name])):
        yield FeatureLevelRecord(name=name, feature_level=levels[name])


class FirstRecords(NamedTuple):
    """What the first controller writes: levels of features, and other records such as credentials."""

    levels: Mapping[str, int]
    more: list[MetadataRecord]


def read_bootstrap(files: Files, directory: str, features: Mapping[str, VersionRange]) -> FirstRecords:
    """What formatting has left for the first controller; this software's defaults if it left nothing."""
    path = f"{directory}/{BOOTSTRAP_FILE}"
    data = files.read(path)
    if data is None:
        return FirstRecords(bootstrap_levels(features), [])
    records = [decode_record(value)[0] for value in Snapshot(path, data).values()]
    levels = {record.name: record.feature_level for record in records if isinstance(record, FeatureLevelRecord)}
    return FirstRecords(levels, [record for record in records if not isinstance(record, FeatureLevelRecord)])


def controller_endpoints(settings: Settings) -> Endpoints:
    """Where other nodes reach this one as a controller; empty if nowhere."""
    network = settings.network
    told = (*(network.advertised_listeners or ()), *network.listeners)
    found: dict[str, Endpoint] = {}
    for listener in told:
        if listener.name in network.controller_listener_names and listener.address.port:
            host = listener.address.host or "localhost"
            found.setdefault(listener.name, Endpoint(listener.name, host, listener.address.port))
    return tuple(found.values())
