"""Power cuts of a real filesystem: ext4 above a block device that remembers what reached it, and in which order."""
