"""Our error codes are Kafka's."""

import subprocess
from pathlib import Path

import apache_kafka
import pytest

from kafkish_protocol.error_codes import ErrorCode

SOURCE = str(Path(__file__).parent / "java" / "ErrorCodes.java")


@pytest.mark.kafka
def test_error_codes_equal_kafkas() -> None:
    printed = subprocess.run(apache_kafka.java(SOURCE), capture_output=True, text=True, check=True).stdout
    kafka = {name: int(number) for number, name in (line.split() for line in printed.splitlines())}
    assert {code.name: code.value for code in ErrorCode} == kafka
