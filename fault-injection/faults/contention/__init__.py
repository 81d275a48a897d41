"""The layer contention: real workers, a real service and a stranger on one spool, some of whom die at any moment."""
