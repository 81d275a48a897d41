"""What is not as it should be, each with what to do about it."""
