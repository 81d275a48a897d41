"""`curator-service`: says where the work is done until the long-lived service is released."""

import sys

EX_UNAVAILABLE = 69  # sysexits.h: the service is not there


def run() -> int:
    """Print one line on stderr and return the exit status that means "unavailable"."""
    sys.stderr.write(
        "curator-service: the long-lived service comes in a later release. `curator review --once` does the work\n",
    )
    return EX_UNAVAILABLE


if __name__ == "__main__":
    sys.exit(run())
