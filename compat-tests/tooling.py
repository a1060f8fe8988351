"""Programs and libraries that tests take from elsewhere: found on this machine, or fetched and built once and kept."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path


class MissingToolError(RuntimeError):
    """This machine has no such program, or cannot make it. A test is skipped for that on a desk, and fails in CI."""


def require(*programs: str) -> None:
    """Refuse with a sentence that says what to install."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise MissingToolError(f"{' and '.join(missing)} not found; `make tools` installs them or says how")


def kept(name: str, recipe: bytes, make: Callable[[Path], None]) -> Path:
    """A directory of the user's cache, filled by `make` if this machine does not have it from the same recipe."""
    cache = Path(os.environ.get("KAFKISH_CACHE", Path.home() / ".cache" / "kafkish"))
    home = cache / f"{name}-{hashlib.sha256(recipe).hexdigest()[:8]}"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "complete").exists():
            make(home)
            (home / "complete").touch()
    return home
