"""The small files that say whose a directory is: `meta.properties`, `partition.metadata`, `.kafka_cleanshutdown`."""

import json
from dataclasses import dataclass
from typing import Final

from kafkish_storage.errors import CorruptFileError
from kafkish_storage.files import Files, write_atomically

META_PROPERTIES: Final = "meta.properties"
PARTITION_METADATA: Final = "partition.metadata"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"

_NO_TOPIC_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """Which cluster and node a data directory belongs to, and its own id. Ids are Kafka's 22 characters of base64."""

    cluster_id: str
    node_id: int
    directory_id: str | None = None


def write_meta_properties(files: Files, directory: str, properties: MetaProperties) -> None:
    lines = [
        "#",
        f"node.id={properties.node_id}",
        *([f"directory.id={properties.directory_id}"] if properties.directory_id else []),
        "version=1",
        f"cluster.id={properties.cluster_id}",
    ]
    write_atomically(files, f"{directory}/{META_PROPERTIES}", "".join(f"{line}\n" for line in lines).encode())


def read_meta_properties(files: Files, directory: str) -> MetaProperties | None:
    """None if the directory was never formatted."""
    path = f"{directory}/{META_PROPERTIES}"
    data = files.read(path)
    if data is None:
        return None
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    pairs = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith(("#", "!")))
    values = {name.strip(): value.strip() for name, value in pairs.items()}
    remedy = "Restore the file; it has the lines version=1, cluster.id, node.id and directory.id"
    if values.get("version") != "1":
        raise CorruptFileError(path, f"version {values.get('version')!r} is not known, expected version 1", remedy)
    try:
        return MetaProperties(values["cluster.id"], int(values["node.id"]), values.get("directory.id"))
    except (KeyError, ValueError) as error:
        raise CorruptFileError(path, f"expected cluster.id and node.id ({error})", remedy) from None


def write_topic_id(files: Files, directory: str, topic_id: str) -> None:
    write_atomically(files, f"{directory}/{PARTITION_METADATA}", f"version: 0\ntopic_id: {topic_id}".encode())


def read_topic_id(files: Files, directory: str) -> str | None:
    """None if the file was never written: a crash came first, and the log is empty."""
    path = f"{directory}/{PARTITION_METADATA}"
    data = files.read(path)
    if data is None:
        return None
    values = dict(line.split(": ", 1) for line in data.decode("utf-8", "replace").splitlines() if ": " in line)
    if not values.get("version", "").isdecimal() or values.get("topic_id", _NO_TOPIC_ID) == _NO_TOPIC_ID:
        remedy = "Restore the file: `version: 0` and `topic_id: ` with the topic's id, as kafka-topics shows it"
        raise CorruptFileError(path, "expected a version and a topic id", remedy)
    return values["topic_id"]


def write_clean_shutdown(files: Files, directory: str, broker_epoch: int) -> None:
    content = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    write_atomically(files, f"{directory}/{CLEAN_SHUTDOWN}", content.encode())


def take_clean_shutdown(files: Files, directory: str) -> int | None:
    """The broker's epoch when it stopped cleanly, or None. The file is gone, durably, before anything is loaded.

    If it were still there, a crash while loading would pass for a clean stop (KAFKA-10471).
    """
    path = f"{directory}/{CLEAN_SHUTDOWN}"
    data = files.read(path)
    if data is None:
        return None
    files.remove(path)
    files.sync_directory(directory)
    try:
        epoch = json.loads(data)["brokerEpoch"]
    except (ValueError, KeyError, TypeError):
        return -1  # older Kafkas wrote an empty file
    return epoch if isinstance(epoch, int) else -1
