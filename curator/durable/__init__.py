"""The disk: how a fact becomes durable, how it is read back, and who may write at a time."""
