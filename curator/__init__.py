"""curator: a review daemon for coding-agent memory."""

__version__ = "0.1.0"
