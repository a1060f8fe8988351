"""kafkish beside Apache Kafka: generated requests have the same answers, and a bug in ours would be seen."""

import subprocess
import sys
from collections.abc import Iterator
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
PATCH = """
from kafkish_protocol.messages.{module} import {response} as patched
def wrap(encode):
    def wrapped(response, *arguments):
        {bug}
        return encode(response, *arguments)
    return wrapped
for version in patched.schema.versions:
    patched.schema.encoders[version] = wrap(patched.schema.encoders[version])
"""
BUGS = {
    "a wrong error code": ("list_offsets", "ListOffsetsResponse", "topics.partitions.error_code",
        "[setattr(r, 'error_code', 17) for t in response.topics for r in t.partitions if r.error_code == 3]"),
    "a missing field": ("metadata", "MetadataResponse", "topics.partitions.isr_nodes",
        "[setattr(r, 'isr_nodes', []) for t in response.topics for r in t.partitions]"),
    "an offset that is one too large": ("list_offsets", "ListOffsetsResponse", "topics.partitions.offset",
        "[setattr(r, 'offset', r.offset + 1) for t in response.topics for r in t.partitions if r.error_code == 0]"),
}  # fmt: skip
"""A bug -> the response that has it, the field that must be named, and what is done to it before it is sent."""


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


def compared(port: int, kafka: ApacheKafka, requests: int, seed: int) -> Report:
    run = Run(("127.0.0.1", port), ("127.0.0.1", kafka.port))
    return run.compare(run.generated(seed), requests, lambda _report: False)


@pytest.mark.kafka
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_seen(tmp_path: Path, kafka: ApacheKafka, bug: str) -> None:
    module, response, field, change = BUGS[bug]

    def is_seen(report: Report) -> bool:
        return any(each.difference.field == field for each in report.findings.values())

    with kafkish(tmp_path, PATCH.format(module=module, response=response, bug=change)) as port:
        run = Run(("127.0.0.1", port), ("127.0.0.1", kafka.port))
        assert is_seen(run.compare(run.generated(2), 200, is_seen))


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
