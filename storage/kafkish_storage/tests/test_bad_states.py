"""States in which storage cannot work: it says which file, what it expected and what to do, and loses nothing."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kafkish_storage.checkpoint import CLEANED_OFFSETS, HIGH_WATERMARKS, LOG_STARTS, RECOVERY_POINTS
from kafkish_storage.errors import (
    CorruptFileError,
    CorruptLogError,
    DirectoryError,
    DirectoryInUseError,
    DiskFullError,
    TopicIdError,
    WrongDirectoryError,
)
from kafkish_storage.files import DiskFiles
from kafkish_storage.log import Log
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import StorageConfig
from kafkish_storage.properties import MetaProperties, write_meta_properties
from kafkish_storage.tests.making import batch, flush, read_all, records_of

PARTITION = TopicPartition("t", 0)

OPEN_IN_ANOTHER_PROCESS = """
import random, sys
from kafkish_storage import DiskFiles, LogManager, StorageConfig
LogManager.open(DiskFiles(), [sys.argv[1]], StorageConfig(), now_ms=0, dice=random.Random(0))
"""


def open_manager(*paths: Path, cluster_id: str | None = None, node_id: int | None = None) -> LogManager:
    config = StorageConfig(cluster_id=cluster_id, node_id=node_id)
    return LogManager.open(DiskFiles(), [str(path) for path in paths], config, now_ms=1000, dice=Random(1))


def create(manager: LogManager, topic_id: str = "a" * 22) -> Log:
    job = manager.create([NewLog(PARTITION, topic_id)], now_ms=1000)
    job.run()
    job.finish()
    log = manager.get(PARTITION)
    assert log is not None
    return log


def values_in(manager: LogManager) -> list[bytes | None]:
    log = manager.get(PARTITION)
    assert log is not None
    return [record.value for record in records_of(read_all(log))]


def write_one(path: Path) -> None:
    """A directory with one record in it, stopped cleanly."""
    manager = open_manager(path)
    create(manager).append_as_leader([batch(b"kept")], 0, 1000)
    manager.close()


def test_a_second_process_is_kept_out(tmp_path: Path) -> None:
    manager = open_manager(tmp_path)
    create(manager).append_as_leader([batch(b"kept")], 0, 1000)
    command = [sys.executable, "-c", OPEN_IN_ANOTHER_PROCESS, str(tmp_path)]
    other = subprocess.run(command, capture_output=True, text=True, check=False)
    assert other.returncode != 0
    assert f"{tmp_path}/.lock is locked: another broker is using this data directory. Stop it" in other.stderr
    with pytest.raises(DirectoryInUseError, match="another broker is using this data directory"):
        open_manager(tmp_path)
    assert values_in(manager) == [b"kept"]
    manager.close()
    assert values_in(open_manager(tmp_path)) == [b"kept"]


def test_a_lock_of_a_killed_process_does_not_stay(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN_IN_ANOTHER_PROCESS + "import os; os.kill(os.getpid(), 9)", str(tmp_path)]
    assert subprocess.run(command, check=False).returncode == -9
    open_manager(tmp_path).close()


@pytest.mark.parametrize(
    ("cluster_id", "node_id", "text"),
    [
        ("theirs", 1, "meta.properties has cluster.id=ours, expected theirs: the data belongs to another cluster"),
        ("ours", 2, "meta.properties has node.id=1, expected 2: the data belongs to another node"),
    ],
)
def test_a_directory_of_another_cluster_or_node_is_left_alone(
    tmp_path: Path, cluster_id: str, node_id: int, text: str
) -> None:
    write_meta_properties(DiskFiles(), str(tmp_path), MetaProperties("ours", 1, "d" * 22))
    write_one(tmp_path)
    with pytest.raises(WrongDirectoryError, match=text):
        open_manager(tmp_path, cluster_id=cluster_id, node_id=node_id)
    assert values_in(open_manager(tmp_path, cluster_id="ours", node_id=1)) == [b"kept"]


@pytest.mark.parametrize("name", [RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS, CLEANED_OFFSETS])
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("7\n0\n", "version '7' is not known, expected version 0"),
        ("0\n2\nt 0 1\n", "expected 2 entries, found 1"),
        ("0\n1\nt 0 one\n", "a line is not as it should be"),
        ("\0\0\0", "version"),
    ],
)
def test_a_checkpoint_that_cannot_be_read_is_not_guessed(tmp_path: Path, name: str, content: str, text: str) -> None:
    write_one(tmp_path)
    good = (tmp_path / name).read_bytes()
    (tmp_path / name).write_text(content)
    for _ in range(2):  # a refused start does not make the next one think that all is well
        with pytest.raises(CorruptFileError, match=text) as raised:
            open_manager(tmp_path)
        assert str(tmp_path / name) in str(raised.value)
        assert "Restore it from a backup" in str(raised.value)
    (tmp_path / name).write_bytes(good)
    manager = open_manager(tmp_path)
    assert manager.directories[0].was_clean
    assert values_in(manager) == [b"kept"]


def test_a_directory_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(DirectoryError, match=f"cannot write to the data directory {tmp_path}/data: .* name another"):
        open_manager(tmp_path / "data")


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    path = tmp_path / "disk"
    path.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)], check=False).returncode:
        pytest.skip("this user may not mount a tmpfs")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def test_a_read_only_directory_is_refused_and_unchanged(mounted: Path) -> None:
    write_one(mounted / "data")
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    with pytest.raises(DirectoryError, match=f"cannot write to the data directory {mounted}/data: Read-only") as raised:
        open_manager(mounted / "data")
    assert "Let the broker's user write there, or name another" in str(raised.value)
    subprocess.run(["mount", "-o", "remount,rw", str(mounted)], check=True)
    assert values_in(open_manager(mounted / "data")) == [b"kept"]


def fill(log: Log, appended: list[bytes]) -> None:
    for at in range(1000):
        log.append_as_leader([batch(b"%d" % at, b"x" * 5000)], 0, 1000)
        appended += [b"%d" % at, b"x" * 5000]


def test_a_full_disk_refuses_appends_and_goes_on_when_there_is_space(mounted: Path) -> None:
    (mounted / "filler").write_bytes(bytes(400_000))
    manager = open_manager(mounted / "data")
    log = create(manager)
    expected: list[bytes] = []
    with pytest.raises(DiskFullError, match=f"no space is left in {mounted}/data while appending to t-0") as raised:
        fill(log, expected)
    assert "Nothing was lost: free some" in str(raised.value)
    assert values_in(manager) == expected

    (mounted / "filler").unlink()
    log.append_as_leader([batch(b"after")], 0, 1000)
    assert flush(log) == len(expected) + 1
    manager.close()
    assert values_in(open_manager(mounted / "data")) == [*expected, b"after"]


def test_a_broker_that_stopped_on_a_full_disk_starts_with_all_its_records(mounted: Path) -> None:
    (mounted / "reserve").write_bytes(bytes(100_000))
    manager = open_manager(mounted / "data")
    log = create(manager)
    with pytest.raises(DiskFullError):
        fill(log, [])
    end_offset = log.end_offset
    manager.directories[0].abandon()
    (mounted / "filler").write_bytes(b"")
    with pytest.raises(OSError, match="No space"):
        (mounted / "filler").write_bytes(bytes(2_000_000))

    manager = open_manager(mounted / "data")  # it can be read, though nothing can be written
    assert len(values_in(manager)) == end_offset
    manager.directories[0].abandon()

    (mounted / "reserve").unlink()
    manager = open_manager(mounted / "data")
    assert len(values_in(manager)) == end_offset
    manager.close()


def test_one_directory_of_several_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    write_one(tmp_path / "good")
    (tmp_path / "file").write_text("")
    (tmp_path / "bad" / "t2-0" / f"{0:020d}.log").mkdir(parents=True)  # a directory where a file should be
    manager = open_manager(tmp_path / "file", tmp_path / "good", tmp_path / "bad")
    assert values_in(manager) == [b"kept"]
    assert set(manager.offline) == {str(tmp_path / "file"), str(tmp_path / "bad")}
    assert "cannot write to the data directory" in manager.offline[str(tmp_path / "file")]
    assert manager.offline[str(tmp_path / "bad")] == "Is a directory"


def test_damage_below_the_recovery_point_is_reported_and_nothing_is_cut(tmp_path: Path) -> None:
    manager = open_manager(tmp_path)
    log = create(manager)
    for value in (b"first", b"second", b"third"):
        log.append_as_leader([batch(value)], 0, 1000)
    flush(log)
    for job in manager.directories[0].checkpoint_all():
        job.run()
    manager.directories[0].abandon()
    path = tmp_path / "t-0" / f"{0:020d}.log"
    good = path.read_bytes()
    bad = bytearray(good)
    bad[len(good) // 2] ^= 1
    path.write_bytes(bad)

    manager = open_manager(tmp_path)
    assert manager.get(PARTITION) is None
    error = manager.directories[0].broken[PARTITION]
    assert isinstance(error, CorruptLogError)
    assert f"{path} is damaged at byte {len(good) // 3}: the checksum is wrong, and it was durable up to 3" in str(
        error
    )
    assert path.read_bytes() == bad
    manager.close()
    path.write_bytes(good)
    assert values_in(open_manager(tmp_path)) == [b"first", b"second", b"third"]


def test_a_topic_of_the_same_name_and_another_id_is_not_taken_for_it(tmp_path: Path) -> None:
    write_one(tmp_path)
    manager = open_manager(tmp_path)
    with pytest.raises(TopicIdError, match=f"{tmp_path}/t-0 is of the topic with id {'a' * 22}, expected {'b' * 22}"):
        create(manager, "b" * 22)
    assert values_in(manager) == [b"kept"]


def test_a_name_that_is_no_topic_reaches_no_file(tmp_path: Path) -> None:
    manager = open_manager(tmp_path)
    for name in ("../escape", "a/b", "", "..", "x" * 250):
        with pytest.raises(ValueError, match="cannot be the name of a topic"):
            manager.create([NewLog(TopicPartition(name, 0))], now_ms=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".kafkish_in_use", ".lock"]
