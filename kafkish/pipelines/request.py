"""What the command line asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Request:
    """How to run a pipeline."""

    file: Path
    master: str = "local[*]"
    settings: Mapping[str, str] = field(default_factory=dict)
    once: bool = True
    bootstrap: str = ""
    data_dir: Path = Path("data")
