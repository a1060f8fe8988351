"""Versions: the ranges that clients take for granted, and fields that only some versions have."""

import batches
import control
import pytest
from kafka.protocol.metadata import ApiVersionsRequest
from wire import Wire

# What Kafka 4.3 advertises to clients: API key, lowest and highest version.
KAFKA_4_3 = {
    0: (0, 13), 1: (4, 18), 2: (1, 11), 3: (0, 13), 8: (2, 10), 9: (1, 10), 10: (0, 6), 11: (0, 9), 12: (0, 4),
    13: (0, 5), 14: (0, 5), 15: (0, 6), 16: (0, 5), 17: (0, 1), 18: (0, 4), 19: (2, 7), 20: (1, 6), 21: (0, 2),
    22: (0, 5), 23: (2, 4), 24: (0, 5), 25: (0, 4), 26: (0, 5), 27: (1, 2), 28: (0, 5), 29: (1, 3), 30: (1, 3),
    31: (1, 3), 32: (1, 4), 33: (0, 2), 34: (1, 2), 35: (1, 5), 36: (0, 2), 37: (0, 3), 38: (1, 3), 39: (1, 2),
    40: (1, 2), 41: (1, 3), 42: (0, 2), 43: (0, 2), 44: (0, 1), 45: (0, 1), 46: (0, 0), 47: (0, 0), 48: (0, 1),
    49: (0, 1), 50: (0, 0), 51: (0, 0), 55: (0, 2), 57: (0, 2), 60: (0, 2), 61: (0, 0), 64: (0, 0), 65: (0, 0),
    66: (0, 2), 68: (0, 1), 69: (0, 1), 74: (0, 1), 75: (0, 0), 76: (1, 1), 77: (1, 1), 78: (1, 2), 79: (1, 2),
    80: (0, 1), 81: (0, 0), 83: (0, 0), 84: (0, 0), 85: (0, 1), 86: (0, 0), 87: (0, 1), 88: (0, 0), 89: (0, 0),
    90: (0, 1), 91: (0, 0), 92: (0, 0),
}  # fmt: skip

# Without these some client or tool of the suite could not work. Transactions and security are not among them.
NEEDED = {*range(4), *range(8, 17), *range(18, 24), 32, 33, 35, 37, *range(42, 48), 55, 57, 60, 61, 64, 74, 75}


def test_advertised_ranges_are_kafkas(wire: Wire) -> None:
    told = {key: (versions.start, versions.stop - 1) for key, versions in wire.api_versions().items()}
    assert {key: KAFKA_4_3.get(key) for key in told} == told
    assert NEEDED - set(told) == set()


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_api_versions_tells_the_same(wire: Wire, version: int) -> None:
    request = ApiVersionsRequest(client_software_name="compat-tests", client_software_version="1")
    answer = wire.send(request, version)
    told = {api.api_key: range(api.min_version, api.max_version + 1) for api in answer.api_keys}
    assert (answer.error_code, told) == (0, wire.api_versions())


@pytest.mark.parametrize("name", ["", "white space", "-leading"])
def test_bad_name_of_software_is_refused_and_the_connection_stays(wire: Wire, name: str) -> None:
    request = ApiVersionsRequest(client_software_name=name, client_software_version="1")
    wire.post(request, 3)
    assert int.from_bytes(wire.receive_frame()[4:6], "big") == 42  # kafka-python expects version 0 with an error
    assert wire.api_versions()


@pytest.mark.parametrize("version", range(1, 13))
def test_every_version_of_metadata_tells_a_real_leader(wire: Wire, topic: str, version: int) -> None:
    answer = control.metadata(wire, topic, version=version)
    (partition,) = answer.partitions
    assert (answer.error_code, answer.name, answer.is_internal) == (0, topic, False)
    assert (partition.error_code, partition.replica_nodes) == (0, [partition.leader_id])
    if version >= 7:
        assert partition.leader_epoch >= 0
    if version >= 10:
        assert answer.topic_id != control.NO_TOPIC_ID


@pytest.mark.parametrize("version", range(3, 12))
def test_every_version_of_produce_appends(wire: Wire, topic: str, version: int) -> None:
    for offset in range(2):
        answer = control.produce_response(wire, topic, batches.values(b"value"), version=version)
        assert (answer.error_code, answer.base_offset, answer.log_append_time_ms) == (0, offset, -1)
        if version >= 5:
            assert answer.log_start_offset == 0


@pytest.mark.parametrize("version", range(1, 12))
def test_every_version_of_list_offsets_tells_the_end(wire: Wire, topic: str, version: int) -> None:
    control.produce(wire, topic, batches.values(b"value"))
    answer = control.list_offset(wire, topic, control.LATEST, version=version)
    assert (answer.error_code, answer.offset, answer.timestamp) == (0, 1, -1)
    if version >= 4:
        assert answer.leader_epoch >= 0
