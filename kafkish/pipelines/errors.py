"""What goes wrong in a pipeline, told to a person: what, where, and what to do."""

from dataclasses import dataclass


class PipelineError(Exception):
    """Ends a run with one message and no stack trace."""


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a pipeline file."""

    file: str
    line: int
    field: str

    def error(self, text: str) -> PipelineError:
        """The error that a person sees: `orders.yaml line 12, sinks[0].topic: ...`."""
        return PipelineError(f"{self}: {text}")

    def __str__(self) -> str:
        return f"{self.file} line {self.line}" + (f", {self.field}" if self.field else "")
