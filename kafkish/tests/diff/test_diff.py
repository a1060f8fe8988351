"""kafkish beside Apache Kafka: generated requests have the same answers, and a bug in ours would be seen."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apache_kafka
import pytest
from apache_kafka import ApacheKafka

from kafkish.diff import script
from kafkish.diff.deliberate import DELIBERATE
from kafkish.diff.moves import Moves
from kafkish.diff.run import Report, Run
from kafkish.diff.world import Topic, World
from kafkish_protocol.api import ApiKey, request_class
from kafkish_protocol.versions import Versions

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
    "broker.session.timeout.ms": "60000",
}
BUGS = {
    "a wrong error code": "from kafkish.handlers import list_offsets as h; h.ErrorCode = type('E', (), {"
    "**{c.name: c for c in h.ErrorCode}, 'UNKNOWN_TOPIC_OR_PARTITION': h.ErrorCode.INVALID_TOPIC_EXCEPTION})",
    "a missing field": "from kafkish_protocol.messages.metadata import MetadataResponse as m; "
    "m.schema.encoders; e = m.schema.encoders; v = e[12]; "
    "e[12] = lambda r, *a: ([setattr(t, 'partitions', []) for t in r.topics], v(r, *a))[1]",
    "an offset that is one too large": "from kafkish_protocol.messages.produce import ProduceResponse as p; "
    "e = p.schema.encoders; c = type(e).__missing__; "
    "f = lambda w: lambda r, *a: ([setattr(x, 'base_offset', x.base_offset + 1) for t in r.responses "
    "for x in t.partition_responses if x.error_code == 0], w(r, *a))[1]; "
    "[e.__setitem__(n, f(e[n])) for n in range(3, 14)]",
}
"""What is done to a broker before it starts."""


@contextmanager
def kafkish(directory: Path, bug: str = "") -> Iterator[int]:
    """A broker in a process of its own, with a bug if wanted; its port."""
    code = f"{bug}\nimport sys\nfrom kafkish.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    ready = directory / "ready"
    command = [sys.executable, "-c", code, "serve", "--listen", "127.0.0.1:0", "--data-dir", str(directory / "data")]
    command += ["--ready-file", str(ready)]
    for name, value in SETTINGS.items():
        command += ["--set", f"{name}={value}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "ready" in line
        yield int(ready.read_text().rpartition(":")[2])
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    with apache_kafka.ApacheKafka(tmp_path_factory.mktemp("kafka"), **SETTINGS) as running:
        yield running


def compared(port: int, kafka: ApacheKafka, requests: int, seed: int, to_the_end: bool = True) -> Report:
    run = Run(("127.0.0.1", port), ("127.0.0.1", kafka.port))
    return run.compare(run.generated(seed), requests, lambda report: bool(report.findings) and not to_the_end)


@pytest.mark.kafka
def test_generated_requests_have_kafkas_answers(
    tmp_path: Path, kafka: ApacheKafka, show: Callable[[str], None]
) -> None:
    with kafkish(tmp_path) as port:
        report = compared(port, kafka, 300, seed=1)
    show(f"diff: {report.requests} requests of {len(report.by_api)} APIs, {len(report.findings)} differences")
    assert not report.findings, "\n\n".join(str(each) for each in report.findings.values())


@pytest.mark.kafka
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_seen(tmp_path: Path, kafka: ApacheKafka, bug: str) -> None:
    with kafkish(tmp_path, BUGS[bug]) as port:
        assert compared(port, kafka, 300, seed=2, to_the_end=False).findings


def test_what_differs_on_purpose_is_little_and_has_reasons() -> None:
    assert len(DELIBERATE) <= 15
    assert all(len(each.reason) > 20 for each in DELIBERATE)


def test_a_workload_comes_back_from_its_file(tmp_path: Path) -> None:
    world = World(base_ms=1_700_000_000_000)
    world.topics = {"t": Topic("t")}
    served: dict[int, Versions] = {key: request_class(key).schema.versions for key in (ApiKey.FETCH, ApiKey.PRODUCE)}
    steps = [step for _, step in zip(range(200), Moves(1, world, served).steps(set()), strict=False)]
    script.write(steps, tmp_path / "script")
    assert list(script.read(tmp_path / "script")) == steps
