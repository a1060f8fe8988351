"""Tests of the metadata image."""
