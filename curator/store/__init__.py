"""What stands on disk. One module is one lock domain; they do not know each other."""
