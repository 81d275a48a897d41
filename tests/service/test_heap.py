"""Threads of the service share their places to allocate from: seen in what glibc itself tells of its heaps."""

from __future__ import annotations

import subprocess
import sys

import pytest

ALLOCATING = """
import ctypes, sys, threading
from curator_service.heap import keep_few_arenas

if sys.argv[1] == "few":
    keep_few_arenas()
libc = ctypes.CDLL(None)
if not hasattr(libc, "malloc_info"):
    sys.exit()
libc.malloc.restype = ctypes.c_void_p
met = threading.Barrier(8)

def allocate():
    met.wait()
    libc.malloc(1_000)
    met.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for each in threads:
    each.start()
for each in threads:
    each.join()
libc.fdopen.restype = ctypes.c_void_p
libc.malloc_info(0, ctypes.c_void_p(libc.fdopen(1, b"w")))
libc.fflush(None)
"""


def heaps(how: str) -> int:
    ran = subprocess.run(
        [sys.executable, "-c", ALLOCATING, how], capture_output=True, text=True, check=True, timeout=60
    )
    return ran.stdout.count("<heap nr=")


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc has arenas")
def test_eight_threads_make_no_heap_each() -> None:
    if (many := heaps("many")) == 0:
        pytest.skip("this libc does not tell of its heaps")

    assert heaps("few") <= 2 < many
