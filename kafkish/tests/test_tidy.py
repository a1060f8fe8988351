"""Rules of the house that no linter knows."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("kafkish", "protocol", "storage", "raft")
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60

TIMES = {"timeout", "interval", "delay", "deadline", "elapsed", "duration", "latency", "age", "ttl", "backoff", "lag"}
SIZES = {"size", "capacity"}


@cache
def sources() -> dict[Path, ast.Module]:
    """Every Python file that git knows or would take, parsed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    paths = [Path(name) for name in listed if (ROOT / name).exists()]
    return {path: ast.parse((ROOT / path).read_text()) for path in paths}


def product() -> dict[Path, ast.Module]:
    """The rooms, without their tests."""
    return {path: tree for path, tree in sources().items() if path.parts[0] in ROOMS and "tests" not in path.parts}


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_there_are_sources() -> None:
    assert len(product()) > 100


def test_files_are_short() -> None:
    lengths = {path: len((ROOT / path).read_text().splitlines()) for path in sources()}
    assert {str(path): lines for path, lines in lengths.items() if lines > MAX_FILE_LINES} == {}


def test_functions_are_short() -> None:
    long = [
        f"{path}:{function.lineno} {function.name}"
        for path, tree in sources().items()
        for function in functions(tree)
        if (function.end_lineno or 0) - function.lineno >= MAX_FUNCTION_LINES
    ]
    assert long == []


def test_modules_say_what_they_are() -> None:
    assert [str(path) for path, tree in sources().items() if not ast.get_docstring(tree)] == []


def test_only_the_clock_asks_for_the_time() -> None:
    asking = []
    for path, tree in product().items():
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            module = node.module if isinstance(node, ast.ImportFrom) else None
            if "time" in names or "datetime" in names or module in ("time", "datetime"):
                asking.append(str(path))
    assert asking == ["kafkish/clock.py"]


def named_numbers(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names of parameters and attributes that are declared as numbers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None and is_number(node.annotation):
            yield node.arg, node.lineno
        elif isinstance(node, ast.AnnAssign) and is_number(node.annotation):
            target = node.target
            yield (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")), node.lineno


def is_number(annotation: ast.expr) -> bool:
    return re.fullmatch(r"(Final\[)?(int|float)\]?( \| None)?", ast.unparse(annotation)) is not None


def names_without_unit() -> Iterator[str]:
    """Kafka's own names, in the messages, are as Kafka wrote them."""
    for path, tree in product().items():
        if path.match("kafkish_protocol/messages/*") or path.match("kafkish_protocol/stored/*"):
            continue
        for name, line in named_numbers(tree):
            if name.rpartition("_")[2] in TIMES | SIZES:
                yield f"{path}:{line} {name}"


def test_names_of_times_and_sizes_end_in_their_unit() -> None:
    assert list(names_without_unit()) == []


@pytest.mark.parametrize("text", ["class A:\n  timeout: int", "def f(max_delay: float): ...", "size: int | None = 3"])
def test_rule_of_units_notices(text: str) -> None:
    assert [name for name, _ in named_numbers(ast.parse(text)) if name.rpartition("_")[2] in TIMES | SIZES]


def test_no_file_names_a_package_registry_or_a_home_directory() -> None:
    pattern = r"(repo1?\.maven|pypi\.org|pythonhosted|registry\.npmjs|proxy\.golang|crates\.io|/home/[a-z]|/root/)"
    command = ["git", "grep", "-nIE", pattern, "--", ":!kafkish/tests/test_tidy.py", ":!LICENSE"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout == ""
