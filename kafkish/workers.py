"""Worker threads as a port: long work leaves the event loop and comes back to it."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from kafkish.deferred import Deferred

T = TypeVar("T")


class Job(Protocol):
    """Long work in three steps: made in the loop's thread, run in any, finished in the loop's thread."""

    def run(self) -> object: ...
    def finish(self) -> object: ...


class Workers(Protocol):
    """Threads that take work one piece at a time."""

    def run(self, work: Callable[[], T], /) -> Deferred[T]:
        """Do it in a thread; what it returns or raises comes back in the loop's thread."""


def run_job(workers: Workers, job: Job) -> Deferred[None]:
    """Run a job and finish it, also if running it failed."""

    def finish(done: Deferred[object]) -> None:
        try:
            job.finish()
            done.result()
        except Exception as error:  # whatever it is, it belongs to whoever waits
            finished.fail(error)
        else:
            finished.resolve(None)

    finished: Deferred[None] = Deferred()
    running: Deferred[object] = workers.run(job.run)
    running.on_done(finish)
    return finished
