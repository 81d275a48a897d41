"""The tests mirror the source: tests/<room>/test_<file>.py."""
