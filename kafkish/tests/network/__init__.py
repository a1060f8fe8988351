"""Tests of the connection layer."""
