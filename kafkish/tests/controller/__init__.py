"""Tests of the controller's operations."""
