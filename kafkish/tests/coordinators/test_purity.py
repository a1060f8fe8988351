"""Coordinators are pure: nothing that they could not be told."""

import ast
from pathlib import Path

import kafkish.coordinators

FORBIDDEN = {"asyncio", "socket", "time", "datetime", "random", "uuid", "secrets", "os", "io", "pathlib", "threading"}
FORBIDDEN_ROOMS = {"kafkish_storage", "kafkish_raft"}
PORTS = {"kafkish.deferred", "kafkish.timers"}  # know no loop either


def imports(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_coordinators_know_no_time_dice_disk_wire_nor_the_rest_of_the_broker() -> None:
    files = list(Path(kafkish.coordinators.__path__[0]).rglob("*.py"))
    assert len(files) > 20
    for path in files:
        for name in imports(path.read_text()) - PORTS:
            assert name.partition(".")[0] not in FORBIDDEN | FORBIDDEN_ROOMS, f"{path.name} imports {name}"
            assert not name.startswith("kafkish.") or name.startswith("kafkish.coordinators."), f"{path}: {name}"
