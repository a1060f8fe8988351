"""What tests of storage share: a log on a disk in memory, and a directory on the real one."""

from collections.abc import Callable
from random import Random

import pytest

from kafkish_storage.config import LogConfig
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.loading import LoadOptions, load_log
from kafkish_storage.log import Log
from kafkish_storage.names import TopicPartition

OpenLog = Callable[..., Log]


@pytest.fixture
def disk() -> MemoryFiles:
    found = MemoryFiles()
    found.make_directory("/data/t-0")
    return found


@pytest.fixture
def open_log(disk: MemoryFiles) -> OpenLog:
    """Opens the log in /data/t-0 with settings by name; `clean`, `start_offset` and so on as LoadOptions has them."""

    def open_it(
        *,
        was_clean: bool = False,
        start_offset: int = 0,
        recovery_point: int = 0,
        now_ms: int = 1000,
        **settings: object,
    ) -> Log:
        options = LoadOptions(now_ms, was_clean=was_clean, start_offset=start_offset, recovery_point=recovery_point)
        config = LogConfig(**settings)  # type: ignore[arg-type]  # as the tests name them
        return load_log(disk, "/data/t-0", config, options, partition=TopicPartition("t", 0), dice=Random(1))

    return open_it
