"""One domain at a time, one owner of each; the dead lose their locks and the living never do."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import time_machine

from curator.durable.lock import (
    Domain,
    NestedLockError,
    ProtocolLock,
    is_alive,
    kernel_domain,
    protocol_domain,
    reap_if_stale,
    try_kernel_lock,
    try_protocol_lock,
)
from curator.errors import BusyError, StorageError

UUID = "11111111-1111-4111-8111-111111111111"
HOLDER = """
import sys
from pathlib import Path
from curator.durable.lock import kernel_domain, protocol_domain
make = {"kernel": kernel_domain, "protocol": protocol_domain}[sys.argv[1]]
with make("test", Path(sys.argv[2])).hold():
    print("held", flush=True)
    sys.stdin.readline()
"""
COUNTER = """
import sys
from pathlib import Path
from curator.durable.lock import kernel_domain, protocol_domain
make = {"kernel": kernel_domain, "protocol": protocol_domain}[sys.argv[1]]
domain, number = make("test", Path(sys.argv[2])), Path(sys.argv[3])
for _ in range(int(sys.argv[4])):
    with domain.hold():
        number.write_text(str(int(number.read_text()) + 1))
"""
KINDS = ("kernel", "protocol")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.lock"


@contextlib.contextmanager
def held_elsewhere(kind: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Have another process hold a lock until the end."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, kind, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            yield other
        finally:
            other.kill()


def impatient(kind: str, path: Path, wait_ms: int = 60) -> Domain:
    """Return a domain that gives up soon."""
    if kind == "protocol":
        return Domain("test", ProtocolLock(path), wait_ms)
    held = kernel_domain("test", path)
    return Domain("test", held._lock, wait_ms)  # noqa: SLF001 - the same lock with less patience


def dead_pid() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    return ended.pid


def leave(path: Path, content: str, age_s: float) -> None:
    """Leave a lock file as an owner of that age would have."""
    path.write_text(content)
    then = time.time() - age_s
    os.utime(path, (then, then))


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_exclude_each_other(kind: str, path: Path) -> None:
    with held_elsewhere(kind, path):
        with pytest.raises(BusyError, match=r"the test lock is held: .*a\.lock"), impatient(kind, path).hold():
            raise AssertionError
        if kind == "protocol":
            assert try_protocol_lock(path) is None
        else:
            assert try_kernel_lock(path) is None


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_between_two_processes_that_count(kind: str, path: Path) -> None:
    number = path.with_name("number")
    number.write_text("0")
    counting = [sys.executable, "-c", COUNTER, kind, str(path), str(number), "20"]

    with subprocess.Popen(counting) as one, subprocess.Popen(counting) as two:
        assert (one.wait(), two.wait()) == (0, 0)

    assert number.read_text() == "40"


def test_a_kernel_lock_dies_with_its_owner(path: Path) -> None:
    with held_elsewhere("kernel", path) as other:
        other.kill()
        other.wait()
        with impatient("kernel", path, 5_000).hold():
            assert path.exists()


def test_only_of_a_lock_that_can_be_left_behind_it_is_said_to_remove_it(path: Path) -> None:
    for kind, says in (("protocol", True), ("kernel", False)):
        domain = impatient(kind, path.with_name(kind))
        with held_elsewhere(kind, path.with_name(kind)), pytest.raises(BusyError) as caught, domain.hold():
            raise AssertionError
        assert ("remove that file" in caught.value.remedy) is says


def test_a_held_protocol_lock_says_who_and_since_when_as_the_protocol_does(path: Path) -> None:
    before = time.time_ns() // 1_000_000
    with protocol_domain("test", path).hold():
        owner, since, rest = path.read_text().split("\n")
        mode = path.stat().st_mode & 0o777

    pid, unique = owner.split(":")
    assert (int(pid), len(unique), rest, mode) == (os.getpid(), 36, "", 0o600)
    assert before <= int(since) <= time.time_ns() // 1_000_000
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_domain_can_be_held_again_and_again_also_after_a_failure(kind: str, path: Path) -> None:
    domain = impatient(kind, path)

    for _ in range(2):
        with pytest.raises(ZeroDivisionError), domain.hold():
            _ = 1 // 0
    with domain.hold():
        assert path.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_threads_of_one_process_exclude_each_other(kind: str, path: Path) -> None:
    domain, inside, seen = (
        kernel_domain("test", path) if kind == "kernel" else protocol_domain("test", path),
        [0],
        set(),
    )

    def work() -> None:
        for _ in range(20):
            with domain.hold():
                inside[0] += 1
                seen.add(inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == {1}


@pytest.mark.parametrize(("outer", "inner"), [("a", "b"), ("a", "a")])
def test_a_second_domain_inside_the_first_raises_and_leaves_the_first_held(
    tmp_path: Path, outer: str, inner: str
) -> None:
    first = protocol_domain(outer, tmp_path / outer)
    second = first if inner == outer else kernel_domain(inner, tmp_path / inner)

    with first.hold():
        refused = pytest.raises(NestedLockError, match=f"the {inner} lock was asked for inside the {outer} lock")
        with refused, second.hold():
            raise AssertionError
        assert (tmp_path / outer).exists()
    with second.hold():
        assert (tmp_path / inner).exists()


def test_another_thread_may_hold_another_domain_meanwhile(tmp_path: Path) -> None:
    done = threading.Event()

    def work() -> None:
        with protocol_domain("b", tmp_path / "b").hold():
            done.set()

    with protocol_domain("a", tmp_path / "a").hold():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    assert done.is_set()


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_is_not_there_is_the_disks_refusal_and_is_not_made(tmp_path: Path, kind: str) -> None:
    with pytest.raises(StorageError), impatient(kind, tmp_path / "gone" / "a.lock").hold():
        raise AssertionError

    assert not (tmp_path / "gone").exists()


# --- staleness -------------------------------------------------------------------------------------------------------


def test_a_dead_owners_lock_is_reaped_after_30_seconds(path: Path) -> None:
    leave(path, f"{dead_pid()}:{UUID}\n1700000000000\n", 31)

    with impatient("protocol", path).hold():
        assert path.read_text().startswith(f"{os.getpid()}:")
    assert list(path.parent.iterdir()) == []


def test_a_dead_owners_lock_is_left_for_30_seconds(path: Path) -> None:
    leave(path, f"{dead_pid()}:{UUID}\n1700000000000\n", 25)

    with pytest.raises(BusyError), impatient("protocol", path).hold():
        raise AssertionError
    assert path.exists()


@pytest.mark.parametrize("behind", [f":{UUID}\n1700000000000\n", ":a spelling of its own", ":"])
def test_a_live_owners_lock_is_never_reaped_however_old_and_whatever_stands_behind_its_number(
    path: Path, behind: str
) -> None:
    leave(path, f"{os.getpid()}{behind}", 0)

    with time_machine.travel(time.time() + 86_400):
        assert not reap_if_stale(path)
    assert path.exists()


def test_a_live_owner_in_another_process_keeps_its_lock_too(path: Path) -> None:
    with held_elsewhere("protocol", path) as other:
        with time_machine.travel(time.time() + 86_400):
            assert not reap_if_stale(path)
        assert path.read_text().startswith(f"{other.pid}:")


@pytest.mark.parametrize("pid", [1, os.getpid()], ids=["pid 1", "our own"])
def test_a_live_process_that_began_after_the_lock_is_another_one_with_its_number(path: Path, pid: int) -> None:
    leave(path, f"{pid}:{UUID}\n1700000000000\n", 50 * 365 * 86_400)

    with impatient("protocol", path).hold():
        assert path.read_text().startswith(f"{os.getpid()}:")


@pytest.mark.parametrize(
    "content", ["", "not-a-pid:zzz\n", "\n", ":", "-1:x", "0:" + UUID, "9" * 200 + ":", "\x00\x00"]
)
def test_a_lock_without_an_owner_goes_by_its_age_alone(path: Path, content: str) -> None:
    leave(path, content, 25)
    assert not reap_if_stale(path)

    leave(path, content, 31)
    assert reap_if_stale(path)
    assert not path.exists()


def test_a_lock_that_is_gone_is_as_good_as_reaped(path: Path) -> None:
    assert reap_if_stale(path)


def test_a_lock_that_is_a_symlink_is_moved_and_not_followed(path: Path) -> None:
    target = path.with_name("target")
    target.write_text("kept")
    path.symlink_to(target)
    os.utime(path, (1, 1), follow_symlinks=False)

    assert reap_if_stale(path)
    assert target.read_text() == "kept"


def test_releasing_leaves_a_stolen_lock_alone(path: Path) -> None:
    with protocol_domain("test", path).hold():
        path.unlink()
        path.write_text(f"1:{UUID}\n1700000000000\n")

    assert path.read_text().startswith("1:")


def test_releasing_a_lock_that_is_gone_is_no_failure(path: Path) -> None:
    with protocol_domain("test", path).hold():
        path.unlink()

    assert not path.exists()


# --- the breaker -----------------------------------------------------------------------------------------------------


def test_nobody_reaps_while_another_live_process_holds_the_breaker(path: Path) -> None:
    leave(path, "", 60)
    breaker = path.with_name("a.lock.breaker")
    breaker.write_text(f"{os.getpid()}:{UUID}")

    assert not reap_if_stale(path)
    assert path.exists()
    assert breaker.exists()


@pytest.mark.parametrize("content", ["", "{dead}:" + UUID])
def test_a_dead_breaker_is_dropped_after_a_second_and_the_next_look_reaps(path: Path, content: str) -> None:
    leave(path, "", 60)
    breaker = path.with_name("a.lock.breaker")
    told = content.replace("{dead}", str(dead_pid()))

    leave(breaker, told, 0)
    assert not reap_if_stale(path)
    assert breaker.exists()
    leave(breaker, told, 2)
    assert not reap_if_stale(path)
    assert not breaker.exists()
    assert reap_if_stale(path)
    assert list(path.parent.iterdir()) == []


# --- liveness --------------------------------------------------------------------------------------------------------


def test_a_process_is_alive_while_it_runs() -> None:
    assert is_alive(os.getpid())
    assert is_alive(1)
    assert not is_alive(dead_pid())


@pytest.mark.parametrize("pid", [0, -1, 2**31, 2**70])
def test_a_number_that_no_process_has_is_dead(pid: int) -> None:
    assert not is_alive(pid)


def test_a_process_that_began_after_its_mark_did_not_make_it() -> None:
    now = time.time_ns() // 1_000_000

    assert is_alive(os.getpid(), now)
    assert not is_alive(os.getpid(), 1_700_000_000)
