"""The rules of memory: a branch and operations in, a branch out. Pure."""
