"""Coordinators that lead all their partitions."""

import pytest

from kafkish.tests.coordinators.group_node import GroupNode


@pytest.fixture
def node() -> GroupNode:
    node = GroupNode()
    node.elect()
    return node


@pytest.fixture
def slow_node() -> GroupNode:
    """Its high watermark waits to be moved."""
    node = GroupNode(commits_at_once=False)
    node.elect()
    return node
