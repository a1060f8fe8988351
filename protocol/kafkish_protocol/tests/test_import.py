"""Importing costs little: nothing is derived before it is used."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOM = Path(__file__).parents[2]


def python(code: str) -> str:
    """Run code in a fresh interpreter."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOM)!r})\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_messages_derives_nothing() -> None:
    printed = python(
        "from kafkish_protocol.messages.fetch import FetchRequest\n"
        "print('kafkish_protocol.derive' in sys.modules, 'decoders' in vars(FetchRequest.schema))\n"
        "FetchRequest.schema.decoders[18]\n"
        "print('kafkish_protocol.derive' in sys.modules, list(FetchRequest.schema.decoders))"
    )
    assert printed.splitlines() == ["False False", "True [18]"]


def test_importing_record_batches_does_not_import_construct() -> None:
    assert python("import kafkish_protocol.records; print('construct' in sys.modules)").strip() == "False"


def test_import_takes_little_longer_than_constructs_own(show: Callable[[str], None]) -> None:
    code = (
        "import time; start = time.perf_counter(); import construct; middle = time.perf_counter()\n"
        "import kafkish_protocol, kafkish_protocol.api, kafkish_protocol.messages.headers\n"
        "print((middle - start) * 1000, (time.perf_counter() - middle) * 1000)"
    )
    runs = [tuple(map(float, python(code).split())) for _ in range(5)]
    construct_ms, ours_ms = (min(column) for column in zip(*runs, strict=True))
    show(f"import: construct {construct_ms:.0f} ms, kafkish_protocol {ours_ms:.0f} ms more")
