"""librdkafka guesses what it may use from the versions that a broker advertises, each of its own versions anew."""

from collections.abc import Callable

import batches
import control
import librdkafka
import pytest
from brokers import Broker
from clients.kcat import Balanced, Kcat
from waiting import until
from wire import Wire

pytestmark = pytest.mark.kcat


@pytest.fixture(params=librdkafka.VERSIONS)
def kcat(request: pytest.FixtureRequest, broker: Broker) -> Kcat:
    """kcat with this version of librdkafka."""
    found = Kcat(broker.address, librdkafka.directory(request.param))
    minor = request.param.rpartition(".")[0]
    assert f"librdkafka {minor}." in found.run("-V").stdout
    return found


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_codec_is_stored_and_read_by_every_librdkafka(wire: Wire, kcat: Kcat, topic: str, codec: str) -> None:
    lines = [f"{number} {'the same words ' * 50}" for number in range(100)]
    kcat.run("-P", "-t", topic, "-z", codec, "-X", "linger.ms=50", stdin="\n".join(lines))
    stored = {batch.compression_type for batch in batches.read(control.fetch(wire, topic, 0).records)}
    assert stored == {batches.CODECS[codec]}
    assert kcat.values(topic) == lines


def test_every_librdkafka_is_an_idempotent_producer_and_a_member_of_a_group(
    kcat: Kcat, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(2)
    lines = [str(number) for number in range(1000)]
    first, second = Balanced(kcat, group, topic), Balanced(kcat, group, topic)
    try:
        until(lambda: len(first.assignment) == len(second.assignment) == 1, "a share each")
        kcat.run("-P", "-t", topic, "-X", "enable.idempotence=true", "-X", "batch.size=2000", stdin="\n".join(lines))
        until(lambda: sorted(first.values + second.values, key=int) == lines, "every record once")
    finally:
        first.process.kill()
        second.process.kill()


def test_every_librdkafka_finds_offsets_by_time_and_reads_headers(wire: Wire, kcat: Kcat, topic: str) -> None:
    times = [1_700_000_000_000 + 1000 * number for number in range(3)]
    records = [batches.Record(b"%d" % number, timestamp_ms=time) for number, time in enumerate(times)]
    control.produce(wire, topic, batches.build(records))
    assert f"offset {1}" in kcat.run("-Q", "-t", f"{topic}:0:{times[0] + 1}").stdout
    kcat.run("-P", "-t", topic, "-H", "name=value", stdin="with a header\n")
    assert kcat.read(topic, "-o", "3")[0]["headers"] == ["name", "value"]
