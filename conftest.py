"""What all tests share: tools that may be missing, and figures that a run should show."""

import os
from collections.abc import Callable

import pytest

_FIGURES = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_FIGURES] = []


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that needs a program which is not here is skipped on a desk, and fails where CI=true."""
    import apache_kafka  # noqa: PLC0415  # only where tests run

    needed = {"kafka": ("java", "mvn")}
    for mark, programs in needed.items():
        if item.get_closest_marker(mark):
            try:
                apache_kafka.require(*programs)
            except apache_kafka.MissingToolError as error:
                (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(error))


@pytest.fixture
def show(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Print a line at the end of the run: what was counted or measured."""
    return request.config.stash[_FIGURES].append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash[_FIGURES]:
        terminalreporter.section("figures")
        for line in config.stash[_FIGURES]:
            terminalreporter.write_line(line)
