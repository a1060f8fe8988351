"""A new directory becomes a cluster's, once; what belongs to someone else is refused."""

from random import Random

import pytest

from kafkish.quorum.snapshots import Snapshot
from kafkish.tests.quorum.crash import Crash, crash_after
from kafkish.tests.quorum.node import DATA, Node
from kafkish_raft.voters import KRaftVersion, Voters
from kafkish_storage.errors import DirectoryError, DirectoryInUseError, WrongDirectoryError
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.properties import read_meta_properties

FIRST_SNAPSHOT = f"{DATA}/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


def test_first_start_makes_this_node_the_only_voter() -> None:
    node = Node()
    data = node.files.read(FIRST_SNAPSHOT)
    assert data is not None
    version, voters = (control.record for control in Snapshot(FIRST_SNAPSHOT, data).controls(-1))
    assert version == KRaftVersion(1)
    assert isinstance(voters, Voters)
    assert [voter.key for voter in voters.voters] == [node.identity.replica_key]


def test_second_start_changes_nothing() -> None:
    first = Node()
    files = first.files
    assert isinstance(files, MemoryFiles)
    formatted = (".checkpoint", "meta.properties")
    before = {path: data for path, data in files.contents().items() if path.endswith(formatted)}
    assert len(before) == 3
    second = Node(first.files, seed=99)
    assert second.identity == first.identity
    assert before.items() <= files.contents().items()


def test_all_directories_get_the_same_cluster_and_ids_of_their_own() -> None:
    node = Node(log_dirs="/one,/two", metadata_log_dir=DATA)
    found = [read_meta_properties(node.files, path) for path in ("/one", "/two", DATA)]
    assert {it.cluster_id for it in found if it} == {node.identity.cluster_id}
    assert len({it.directory_id for it in found if it}) == 3


def test_new_disk_joins_the_cluster_of_the_others() -> None:
    first = Node()
    second = Node(first.files, seed=2, log_dirs=f"{DATA},/new")
    assert second.identity.cluster_id == first.identity.cluster_id
    assert second.identity.directory_ids[DATA] == first.identity.directory_ids[DATA]


def test_directory_of_another_node_is_refused() -> None:
    first = Node()
    with pytest.raises(WrongDirectoryError, match=r"/data/meta\.properties has node\.id=1, expected 2"):
        Node(first.files, node_id="2")


def test_directory_of_another_cluster_is_refused() -> None:
    first = Node()
    with pytest.raises(WrongDirectoryError, match=r"cluster\.id=.* expected MkU3OEVBNTcwNTJENDM2Qg"):
        Node(first.files, kafkish_cluster_id="MkU3OEVBNTcwNTJENDM2Qg")


def test_lost_metadata_directory_is_no_reason_to_found_a_new_cluster() -> None:
    first = Node(log_dirs="/one", metadata_log_dir=DATA)
    with pytest.raises(DirectoryError, match="the metadata directory /elsewhere is empty"):
        Node(first.files, log_dirs="/one", metadata_log_dir="/elsewhere")


def test_directory_in_use_is_not_formatted() -> None:
    files = MemoryFiles()
    files.make_directory(DATA)
    assert files.lock(f"{DATA}/.lock")
    with pytest.raises(DirectoryInUseError):
        Node(files)
    assert read_meta_properties(files, DATA) is None


def test_metadata_directory_of_its_own_is_locked_until_the_node_stops() -> None:
    node = Node(log_dirs="/one", metadata_log_dir=DATA).start()
    with pytest.raises(DirectoryInUseError):
        Node(node.files, seed=2, log_dirs="/one", metadata_log_dir=DATA)
    assert node.image.brokers[1].directories == (node.identity.directory_ids["/one"],)
    node.stop()
    assert Node(node.files, seed=2, log_dirs="/one", metadata_log_dir=DATA).start().image.is_active(1)


def test_several_bootstrap_servers_leave_open_who_founds_the_cluster() -> None:
    with pytest.raises(DirectoryError, match="--standalone, --initial-controllers or --no-initial-controllers"):
        Node(
            process_roles="broker,controller",
            listeners="PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
            controller_listener_names="CONTROLLER",
            controller_quorum_bootstrap_servers="a:9093,b:9093",
        )


def test_formatting_that_a_crash_cut_short_is_done_again() -> None:
    crashes = 0
    for count in range(100):
        files, dice = MemoryFiles(), Random(count)
        try:
            with crash_after(files, count):
                Node(files)
        except Crash:
            crashes += 1
            node = Node(files.crashed_at_random(dice), seed=2).start()
            node.created("a")
            assert node.image.is_active(1)
        else:
            break
    assert crashes > 20
