"""A client that never gets to the advertised address is named once; others never."""

import pytest

from kafkish.reachability import Reachability
from kafkish_protocol.api import ApiKey


def test_a_host_that_only_bootstraps_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    watch = Reachability("broker.internal:9092")
    for _ in range(100):
        watch.saw(ApiKey.API_VERSIONS, "203.0.113.9")
        watch.saw(ApiKey.METADATA, "203.0.113.9")
    assert caplog.text.count("203.0.113.9 has asked 30 times") == 1
    assert "it cannot reach broker.internal:9092" in caplog.text


def test_a_host_that_goes_on_is_not_named(caplog: pytest.LogCaptureFixture) -> None:
    watch = Reachability("broker.internal:9092")
    for _ in range(100):
        watch.saw(ApiKey.METADATA, "203.0.113.9")
        watch.saw(ApiKey.FETCH, "203.0.113.9")
    assert caplog.text == ""


def test_memory_is_bounded() -> None:
    watch = Reachability("broker.internal:9092")
    for number in range(5_000):
        watch.saw(ApiKey.METADATA, f"host{number}")
        watch.saw(ApiKey.FETCH, f"other{number}")
    assert len(watch._asked) <= 1_000
    assert len(watch._arrived) <= 1_000
