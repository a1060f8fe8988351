"""What all tests share: tools that may be missing, and figures that a run should show."""

import os
from collections.abc import Callable, Iterator

import pytest

_FIGURES = pytest.StashKey[list[str]]()


# What a test with a mark needs on the PATH.
_PROGRAMS = {"kafka": ("java", "mvn"), "kcat": ("kcat",), "spark": ("java",), "go": ("go",), "node": ("node", "npm")}
_DEFAULT_BROKER = "kafkish"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--broker",
        action="append",
        metavar="KIND",
        help="what compat-tests run against: kafkish, apache, docker or HOST:PORT; may be given more than once "
        f"(default: {_DEFAULT_BROKER})",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_FIGURES] = []
    config.option.broker = config.option.broker or [_DEFAULT_BROKER]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """A test that needs a program which is not here is skipped on a desk, and fails where CI=true."""
    import tooling  # noqa: PLC0415  # only where tests run

    try:
        for mark, programs in _PROGRAMS.items():
            if item.get_closest_marker(mark):
                tooling.require(*programs)
        yield
    except tooling.MissingToolError as error:
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
