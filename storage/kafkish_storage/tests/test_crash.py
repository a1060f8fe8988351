"""Some of the states of `make crash-sweep`, which explores many more."""

from collections.abc import Callable

import pytest

from kafkish_storage.files.memory import MemoryFile, MemoryFiles
from kafkish_storage.tests.crash_actions import Actions
from kafkish_storage.tests.crash_sweep import STEPS, explore
from kafkish_storage.tests.crash_world import World

SEEDS = range(1, 17)


@pytest.mark.timeout(900)
def test_after_any_crash_the_log_is_a_prefix_that_holds_all_that_was_flushed(show: Callable[[str], None]) -> None:
    total = 0
    for seed in SEEDS:
        states, failure = explore(seed)
        assert failure is None, failure
        total += states
    show(f"storage: {total:,} different crash states in {len(SEEDS)} runs")


def test_a_disk_that_only_says_that_it_has_synced_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation can fail: without syncs, it does."""
    monkeypatch.setattr(MemoryFile, "sync", lambda _: None)
    with pytest.raises(AssertionError, match="seed 1, "):
        Actions(World(1)).run(STEPS)


def test_a_disk_that_forgets_names_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryFiles, "sync_directory", lambda *_: None)
    with pytest.raises(AssertionError, match="seed 1, "):
        Actions(World(1)).run(STEPS)
