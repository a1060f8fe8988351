"""What generated workloads are, and what may differ on purpose. `make oracle` runs them beside Apache Kafka."""

from pathlib import Path

from kafkish.diff import script
from kafkish.diff.deliberate import DELIBERATE
from kafkish.diff.moves import Moves
from kafkish.diff.world import Topic, World
from kafkish_protocol.api import ApiKey, request_class
from kafkish_protocol.versions import Versions


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
