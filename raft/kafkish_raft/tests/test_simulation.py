"""Simulated disasters, and proof that the simulation would notice if the core were wrong."""

from collections.abc import Callable

import pytest

from kafkish_raft.tests.simulate import Report, failure, timed
from kafkish_raft.tests.simulation import checker
from kafkish_raft.tests.simulation.bugs import BUGS, switched_on
from kafkish_raft.tests.simulation.chaos import run

SEEDS = 500
MAX_SEEDS_PER_BUG = 1_000

CAUGHT_BY = {
    "vote not persisted": checker.PERSIST_FIRST,
    "vote told before it is persisted": checker.PERSIST_FIRST,
    "vote for a shorter log": checker.VOTE_FOR_LONGER,
    "vote without looking at the log": checker.VOTE_FOR_LONGER,
    "vote again without looking at the log": checker.VOTE_FOR_LONGER,
    "second vote in an epoch": checker.ONE_VOTE,
    "watermark counts unflushed": checker.ON_MAJORITY,
    "follower fetches before its flush": checker.ON_MAJORITY,
    "watermark counts old epochs": checker.OWN_RECORD,
    "no pre vote": checker.PRE_VOTE_FIRST,
    "truncation below the watermark": checker.COMMITTED_STAYS,
    "no check quorum": checker.CHECK_QUORUM,
    "snapshot above the watermark": checker.SNAPSHOT_COMMITTED,
    "snapshot with voters of later": checker.SNAPSHOT_COMMITTED,
    "voters changed before the epoch is open": checker.ONE_CHANGE,
    "removed leader counts itself": checker.ON_MAJORITY,
    "log compared by length only": checker.ON_MAJORITY,
    "truncated voters still count": checker.VOTERS_OF_LOG,
    "two voter changes at once": checker.ONE_CHANGE,
    "stale fetch accepted": checker.OWN_EPOCH,
    "stale fetch response accepted": checker.COMMITTED_STAYS,
    "removed leader does not resign": checker.REMOVED_LEAVES,
    "restarted leader leads on": checker.LOGS_MATCH,
    "restarted leader forgets that it led": checker.ONE_LEADER,
    "deleted snapshot asked for for ever": checker.EQUAL_AT_END,
    "lost directory id": checker.OWN_NAME,
    "follower never stands": checker.LIVENESS,
}
"""Every deliberate bug, and the invariant that must catch it."""


def test_quorums_keep_their_promises(show: Callable[[str], None]) -> None:
    report = Report()
    for seed in range(SEEDS):
        report.add(*timed(seed))
        if report.failures:
            pytest.fail(failure(seed), pytrace=False)
    show(f"raft simulation: {report}; {report.cpu_seconds:.0f} s of CPU")
    assert report.steps >= 1_000 * SEEDS


@pytest.mark.parametrize("name", [name for name in BUGS if CAUGHT_BY[name] == checker.VOTE_FOR_LONGER])
def test_vote_for_a_log_that_is_behind_loses_committed_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is no end in itself: a checker that does not know it sees what comes of breaking it."""
    monkeypatch.setattr(checker.Checker, "looks_away_from", {checker.VOTE_FOR_LONGER})
    assert seed_that_breaks(checker.COMMITTED_STAYS, name) is not None


def test_every_bug_has_its_invariant() -> None:
    assert CAUGHT_BY.keys() == BUGS.keys()


@pytest.mark.parametrize("name", BUGS)
def test_bug_is_caught_by_the_invariant_meant_for_it(name: str, show: Callable[[str], None]) -> None:
    seed = seed_that_breaks(CAUGHT_BY[name], name)
    assert seed is not None
    show(f"raft bug caught by seed {seed}: {name}: {CAUGHT_BY[name]}")


def seed_that_breaks(invariant: str, name: str) -> int | None:
    """A bug may break others first, and less often."""
    with switched_on(name):
        violations = ((seed, run(seed).violation) for seed in range(MAX_SEEDS_PER_BUG))
        return next((seed for seed, found in violations if found and found.invariant == invariant), None)


def test_failing_seed_replays_identically_and_tells_its_story() -> None:
    with switched_on("two voter changes at once"):
        seed = next(seed for seed in range(MAX_SEEDS_PER_BUG) if run(seed).violation)
        first, second = run(seed, is_traced=True), run(seed, is_traced=True)
        story = failure(seed)
    assert first.trace == second.trace
    assert str(first.violation) == str(second.violation) == str(run_with_bug(seed))
    assert story.startswith(f"seed {seed} broke: {checker.ONE_CHANGE}")
    assert f"make sim-raft SEED={seed}" in story
    assert "receive RemoveRaftVoter" in story or "receive AddRaftVoter" in story


def run_with_bug(seed: int) -> object:
    """Without a trace it goes the same way."""
    with switched_on("two voter changes at once"):
        return run(seed).violation
