"""Timers of a shard."""

import random

from kafkish.coordinators.deadlines import Deadlines
from kafkish.coordinators.inputs import Now


def at(ms: int) -> Now:
    return Now(ms, 0)


def test_timers_fire_in_order_and_only_when_due() -> None:
    deadlines, fired = Deadlines(), []
    for due_ms in (30, 10, 20):
        deadlines.set(due_ms, due_ms, lambda now: fired.append(now.monotonic_ms))
    deadlines.run_due(at(9))
    assert (fired, deadlines.next_ms()) == ([], 10)
    deadlines.run_due(at(20))
    assert (fired, deadlines.next_ms()) == ([20, 20], 30)


def test_a_timer_that_is_set_again_fires_once_at_its_new_time() -> None:
    for first_ms, then_ms in ((10, 50), (50, 10)):
        deadlines, fired = Deadlines(), []
        deadlines.set("k", first_ms, lambda _: fired.append("old"))  # noqa: B023  # run before the next round
        deadlines.set("k", then_ms, lambda _: fired.append("new"))  # noqa: B023
        assert deadlines.next_ms() == then_ms
        deadlines.run_due(at(then_ms))
        deadlines.run_due(at(100))
        assert (fired, deadlines.next_ms()) == (["new"], None)


def test_a_cancelled_timer_never_fires_even_if_another_due_timer_cancels_it() -> None:
    deadlines, fired = Deadlines(), []
    deadlines.set("a", 10, lambda _: deadlines.cancel("b"))
    deadlines.set("b", 10, lambda _: fired.append("b"))
    deadlines.run_due(at(10))
    assert (fired, deadlines.next_ms()) == ([], None)


def test_a_timer_that_sets_itself_for_now_does_not_hang_the_tick() -> None:
    deadlines, fired = Deadlines(), []

    def again(now: Now) -> None:
        fired.append(now)
        deadlines.set("k", now.monotonic_ms, again)

    again(at(5))
    deadlines.run_due(at(5))
    assert (len(fired), deadlines.next_ms()) == (2, 5)


def test_moving_timers_again_and_again_keeps_the_queue_small() -> None:
    deadlines = Deadlines()
    for ms in range(100_000):
        deadlines.set(ms % 10, ms + 1_000, lambda _: None)
        deadlines.cancel(ms % 7)
    assert len(deadlines._queue) <= 2 * 10 + 65


def test_any_mix_of_set_cancel_and_run_agrees_with_a_plain_dict() -> None:
    dice = random.Random(20)
    deadlines, model, fired = Deadlines(), dict[int, int](), list[int]()
    now_ms = 0
    for _ in range(20_000):
        key = dice.randrange(40)
        match dice.randrange(4):
            case 0 | 1:
                model[key] = now_ms + dice.randrange(100)
                deadlines.set(key, model[key], lambda _, key=key: fired.append(key))  # type: ignore[misc]
            case 2:
                model.pop(key, None)
                deadlines.cancel(key)
            case 3:
                now_ms += dice.randrange(20)
                deadlines.run_due(at(now_ms))
                due = {key for key, due_ms in model.items() if due_ms <= now_ms}
                assert set(fired) == due
                assert len(fired) == len(due)
                model = {key: due_ms for key, due_ms in model.items() if key not in due}
                fired.clear()
        assert deadlines.next_ms() == min(model.values(), default=None)
