"""Tests of the coordinators."""
