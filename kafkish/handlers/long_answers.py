"""Answers that take long to make are made in turns with others: what they are made of, an image, does not change."""

from collections.abc import Iterator
from typing import TypeVar

from kafkish.deferred import Deferred
from kafkish.timers import Timers
from kafkish_protocol.schema import Response

ResponseT = TypeVar("ResponseT", bound=Response)


def made_in_turns(response: ResponseT, making: Iterator[None], timers: Timers) -> ResponseT | Deferred[ResponseT]:
    """The response when what `making` does to it is done. At each of its yields others have the loop."""
    end = object()
    if next(making, end) is end:
        return response
    made: Deferred[ResponseT] = Deferred()

    def go_on() -> None:
        try:
            has_more = next(making, end) is not end
        except Exception as error:  # whatever it is, the client is told
            made.fail(error)
            return
        if has_more:
            wait()
        else:
            made.resolve(response)

    def wait() -> None:
        timer = timers.call_later(0, go_on)
        made.when_abandoned(timer.cancel)

    wait()
    return made
