"""kafkish beside Apache Kafka: generated requests have the same answers, and a bug of ours would be seen.

A small part of what `make oracle` does.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import apache_kafka
import pytest

from kafkish.diff import script
from kafkish.diff.deliberate import DELIBERATE
from kafkish.diff.moves import Moves
from kafkish.diff.run import Report, Run
from kafkish.diff.world import Topic, World
from kafkish.tests.diff.oracle import SETTINGS, running
from kafkish_protocol.api import ApiKey, request_class
from kafkish_protocol.versions import Versions

PATCH: Final = """
from kafkish_protocol.messages.{module} import {response} as patched
def wrap(encode):
    def wrapped(response, *arguments):
        {bug}
        return encode(response, *arguments)
    return wrapped
for version in patched.schema.versions:
    patched.schema.encoders[version] = wrap(patched.schema.encoders[version])
"""
BUGS: Final = {
    "a wrong error code": ("list_offsets", "ListOffsetsResponse", "topics.partitions.error_code",
        "[setattr(r, 'error_code', 17) for t in response.topics for r in t.partitions if r.error_code == 3]"),
    "a missing field": ("metadata", "MetadataResponse", "topics.partitions.isr_nodes",
        "[setattr(r, 'isr_nodes', []) for t in response.topics for r in t.partitions]"),
    "an offset that is one too large": ("list_offsets", "ListOffsetsResponse", "topics.partitions.offset",
        "[setattr(r, 'offset', r.offset + 1) for t in response.topics for r in t.partitions if r.error_code == 0]"),
}  # fmt: skip
"""A bug -> the response that has it, the field that must be named, and what is done to it before it is sent."""


@pytest.fixture
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apache_kafka.ApacheKafka]:
    """A new one: brokers are compared from their first request on."""
    with apache_kafka.ApacheKafka(tmp_path_factory.mktemp("kafka"), ["--standalone"], **SETTINGS) as started:
        yield started


@pytest.mark.kafka
def test_generated_requests_have_kafkas_answers(
    tmp_path: Path, kafka: apache_kafka.ApacheKafka, show: Callable[[str], None]
) -> None:
    with running(tmp_path) as port:
        run = Run(("127.0.0.1", port), ("127.0.0.1", kafka.port))
        report = run.compare(run.generated(seed=4), 1_500, lambda report: bool(report.findings))
    show(f"diff: {report.requests} requests of {len(report.by_api)} APIs, {len(report.findings)} differences")
    assert not report.findings, "\n\n".join(str(each) for each in report.findings.values())


@pytest.mark.kafka
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_seen(tmp_path: Path, kafka: apache_kafka.ApacheKafka, bug: str) -> None:
    module, response, field, change = BUGS[bug]

    def is_seen(report: Report) -> bool:
        return any(each.difference.field == field for each in report.findings.values())

    with running(tmp_path, PATCH.format(module=module, response=response, bug=change)) as port:
        run = Run(("127.0.0.1", port), ("127.0.0.1", kafka.port))
        assert is_seen(run.compare(run.generated(seed=2), 500, is_seen))


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
