"""Promises of `kafkish diff`."""
