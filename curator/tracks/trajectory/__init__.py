"""What was said in Pi's sessions, as one graph per project: read once, kept without secrets, reviewed by nobody yet."""
