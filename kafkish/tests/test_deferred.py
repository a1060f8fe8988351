"""A value that comes later reaches everyone who waits, once."""

from collections.abc import Iterator

import pytest

from kafkish.deferred import Deferred, gather, in_turns


def test_waiters_are_called_when_it_resolves_and_at_once_afterwards() -> None:
    seen: list[int] = []
    deferred: Deferred[int] = Deferred()
    deferred.on_done(lambda done: seen.append(done.result()))
    assert seen == []
    deferred.resolve(3)
    deferred.on_done(lambda done: seen.append(done.result() + 1))
    assert seen == [3, 4]


def test_map_passes_values_and_errors_on() -> None:
    deferred: Deferred[int] = Deferred()
    doubled = deferred.map(lambda value: value * 2)
    broken = deferred.map(lambda value: value // 0)
    deferred.resolve(4)
    assert doubled.result() == 8
    with pytest.raises(ZeroDivisionError):
        broken.result()
    failed: Deferred[int] = Deferred()
    after = failed.map(lambda value: value + 1)
    failed.fail(ValueError("why"))
    with pytest.raises(ValueError, match="why"):
        after.result()


def test_an_error_can_be_made_a_value_and_a_value_stays_what_it_is() -> None:
    failed: Deferred[int] = Deferred()
    rescued = failed.rescue(lambda error: len(str(error)))
    failed.fail(ValueError("four"))
    assert rescued.result() == 4
    assert Deferred.of(1).rescue(lambda _: 2).result() == 1


def test_an_error_in_a_rescue_is_the_error() -> None:
    failed: Deferred[int] = Deferred()
    failed.fail(ValueError("first"))

    def fail_again(error: Exception) -> int:
        raise KeyError("second") from error

    with pytest.raises(KeyError):
        failed.rescue(fail_again).result()


def test_abandoning_reaches_the_one_that_makes_the_value() -> None:
    forgotten: list[str] = []
    first: Deferred[int] = Deferred[int]().when_abandoned(lambda: forgotten.append("first"))
    second: Deferred[int] = Deferred[int]().when_abandoned(lambda: forgotten.append("second"))
    gather([first.map(str), second]).map(len).abandon()
    assert forgotten == ["first", "second"]


def test_abandoning_what_is_done_does_nothing() -> None:
    deferred: Deferred[int] = Deferred[int]().when_abandoned(lambda: pytest.fail("done already"))
    deferred.resolve(1)
    deferred.abandon()


def test_turns_begin_when_the_one_before_is_done_however_it_ended() -> None:
    waits: list[Deferred[None]] = [Deferred(), Deferred.of(None), Deferred()]
    begun: list[int] = []

    def turns() -> Iterator[Deferred[None]]:
        for number, wait in enumerate(waits):
            begun.append(number)
            yield wait

    finished = in_turns(turns())
    assert begun == [0]
    waits[0].fail(ValueError())
    assert begun == [0, 1, 2]
    assert not finished.is_done
    waits[2].resolve(None)
    assert finished.result() is None


def test_turn_that_raises_is_the_last() -> None:
    def turns() -> Iterator[Deferred[None]]:
        yield Deferred.of(None)
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        in_turns(turns()).result()


def test_gather_waits_for_all_and_keeps_the_order() -> None:
    waiting: list[Deferred[int]] = [Deferred(), Deferred(), Deferred.of(3)]
    gathered = gather(waiting)
    waiting[1].resolve(2)
    assert not gathered.is_done
    waiting[0].resolve(1)
    assert gathered.result() == [1, 2, 3]
    assert gather([]).result() == []


def test_resolving_twice_is_a_mistake() -> None:
    with pytest.raises(AssertionError):
        Deferred.of(1).resolve(2)
