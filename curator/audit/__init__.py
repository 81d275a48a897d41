"""The shadow: a database for questions, folded from the files, rebuilt at will, and never asked by anything that decides."""
