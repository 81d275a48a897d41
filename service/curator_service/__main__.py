"""`python -m curator_service`."""

import sys

from curator_service.main import run

if __name__ == "__main__":
    sys.exit(run())
