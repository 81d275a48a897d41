"""Pi as a child process: what it is started with, and how it is spoken to."""
