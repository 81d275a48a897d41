"""Looking, for people: what stands on disk, in figures and ids. Nothing here changes anything, or shows evidence."""
