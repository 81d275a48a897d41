"""Every record's shape, as the protocol and the design spell it, with what binds its own parts together."""
