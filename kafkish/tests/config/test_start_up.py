"""A broker that starts fast reads its settings fast."""

import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PROGRAM = """
import time
import asyncio, re, enum, typing, collections.abc
start = time.perf_counter()
from kafkish.config.load import load
imported = time.perf_counter()
load()
print((imported - start) * 1e3, (time.perf_counter() - imported) * 1e3)
"""


def test_settings_are_there_in_milliseconds(tmp_path: Path, show: Callable[[str], None]) -> None:
    """Beside the standard library that every broker loads anyway; with compiled files, as installed."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", PROGRAM]
    runs = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(6)]
    imports, loads = zip(*(map(float, run.stdout.split()) for run in runs[1:]), strict=True)
    show(f"kafkish.config: {statistics.median(imports):.1f} ms to import, {statistics.median(loads):.1f} ms to load()")


def test_a_start_without_mistakes_loads_neither_documentation_nor_difflib() -> None:
    program = "import sys\nfrom kafkish.config.load import load\nload()\nprint(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "kafkish.config.documentation" not in modules
    assert "difflib" not in modules
    assert "dataclasses" not in modules
