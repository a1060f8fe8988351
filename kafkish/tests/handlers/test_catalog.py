"""Every API in the catalog has its handler, in the module of its name."""

from importlib import import_module

import pytest

from kafkish.handlers.catalog import CATALOG
from kafkish.handlers.registry import REGISTRY, Served
from kafkish_protocol.api import ApiKey


@pytest.mark.parametrize("key", CATALOG, ids=lambda key: key.name)
def test_what_is_in_the_catalog_has_a_handler(key: ApiKey) -> None:
    import_module(f"kafkish.handlers.{key.name.lower()}")
    assert getattr(REGISTRY[key].handler, "__func__", None) is not Served._import_and_handle
