"""Whoever can be asked: the embedded rules, and models behind an API."""
