"""Tells others what happened, whatever they make of it."""

import logging
from collections.abc import Callable
from typing import Any, Final

_log: Final = logging.getLogger(__name__)


def tell(listener: Callable[..., object], *news: Any) -> None:
    """Call it. One listener's mistake must not keep the others, or the quorum, from what the cluster has decided."""
    try:
        listener(*news)
    except Exception:
        _log.exception("%r failed on news of the metadata quorum", listener)
