"""The command line: one file a command group. Each command imports what it needs, so that the others start fast."""
