"""The layer model: what curator does to the disk, as a specification small enough to be explored whole."""
