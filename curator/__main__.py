"""`python -m curator` is the command `curator`."""

from curator.cli.main import run

if __name__ == "__main__":
    run()
