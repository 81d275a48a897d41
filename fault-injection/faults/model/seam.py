"""What the kernel was asked, beside what the volume says: two witnesses of one run, who must agree.

strace sees every system call of a process and of its threads; `faults.model.witness` writes down, thread by thread, what
went through the volume. Locks and SQLite stand apart: they change past the volume, and say so.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from curator.durable.volume import Volume
from curator.model.ids import session_key
from curator.model.job import make_job
from curator.model.limits import MEMORY_CHARS_MAX
from curator.model.memory import branch_digest
from curator.model.settings import ReviewerProfile, ServiceSettings
from curator.workflow.settings_files import write_service
from faults.tree import is_lock
from faults.world import SESSION, HandClock, World

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SAID: Final = "Always run make lint before committing."
"""What the embedded reviewer takes for a wish, so that the one job changes memory."""
_CALLS: Final = (
    "open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
    "unlink,unlinkat,rmdir,chmod,fchmod,fchmodat,chown,fchown,fchownat,lchown,utime,utimes,utimensat,futimesat,"
    "truncate,ftruncate,fallocate,write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range,splice,"
    "fsync,fdatasync,sync_file_range,syncfs,mmap,ioctl,setxattr,fsetxattr,removexattr"
)
_SAME: Final = {
    "open": "open",
    "openat": "open",
    "openat2": "open",
    "creat": "open",
    "mkdirat": "mkdir",
    "renameat": "rename",
    "renameat2": "rename",
    "linkat": "link",
    "fchmod": "chmod",
    "fchmodat": "chmod",
    "utimensat": "utime",
    "fdatasync": "fsync",
    "pwrite64": "write",
    "writev": "write",
    "pwritev": "write",
    "pwritev2": "write",
}
"""Other spellings of what a volume does; a call of any other name counts under its own."""
_APART: Final = re.compile(
    r"no-forgetti/curator/(?:projects|service)\.guard|no-forgetti/curator/service\.pid"
    r"|no-forgetti/(?:curator/shadow|review-ledger)\.sqlite(?:-wal|-shm|-journal)?"
)
"""The files of locks that the kernel holds, and SQLite."""

_LINE: Final = re.compile(r"(\d+) +(.*)")
_CALL: Final = re.compile(r"(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+)(?:<.*>)?(?: .*)?")
_UNFINISHED: Final = re.compile(r"(.*) <unfinished \.\.\.>")
_RESUMED: Final = re.compile(r"<\.\.\. \w+ resumed>(.*)")
_NAMED: Final = re.compile(r'"([^"]*)"')
_OPENED: Final = re.compile(r"\d+<(/[^>]*)>")


class Change(NamedTuple):
    """One change to a folder, as either witness tells it."""

    thread: int
    verb: str
    path: str
    """Relative to the folder; of a link or a rename the new name."""


def why_not() -> str:
    """Return why the kernel cannot be heard here, or nothing."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        return "strace is not installed: it is the second witness"
    tried = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    return f"strace may not trace here: {tried.stderr.strip()}" if tried.returncode else ""


def lay_ground(agent: Path) -> None:
    """Leave one job in the queue of a new agent folder, for the embedded reviewer, which needs no network."""
    volume = Volume()
    (agent.parent / "project").mkdir()
    agent.mkdir(mode=0o700)
    world = World(agent, volume, HandClock(), {}, "ground", lambda _: None)
    world.prepare_folder()
    profile = ReviewerProfile(provider="offline", model="rules-1")
    write_service(volume, world.layout, ServiceSettings(mode="external", reviewer=profile), force=True)
    world.begin_memory("The build runs on Linux.")
    branch = world.branch()
    job = make_job(
        project_key=world.project.key,
        session_key=session_key(SESSION),
        through_entry_id="alpha",
        transcript=f"USER: {SAID}",
        branch=branch.sanitized(),
        base_branch_digest=branch_digest(branch),
        max_chars=MEMORY_CHARS_MAX,
    )
    world.enqueue(job)


def heard(command: Iterable[str], log: Path, cwd: Path) -> int:
    """Run a command under strace, its calls in `log`; return how it ended."""
    strace = ("strace", "-f", "-qq", "-y", "-s", "0", "--seccomp-bpf", "-e", f"trace={_CALLS}", "-o", str(log))
    return subprocess.run([*strace, *command], cwd=cwd, check=False, stdout=subprocess.DEVNULL, timeout=100).returncode


def from_kernel(log: Path, root: Path) -> list[Change]:
    """Return every change below `root` that the kernel made, locks and SQLite apart."""
    return [change for change in _merged(_changes(log, root)) if not is_apart(change.path)]


def is_apart(path: str) -> bool:
    """Tell whether a path changes past the volume by design."""
    return is_lock(path) or _APART.fullmatch(path) is not None


def apart(seam: list[Change], kernel: list[Change]) -> list[str]:
    """Say, thread by thread, where what the volume says and what the kernel did part; nothing where they agree."""
    told: list[str] = []
    for thread in sorted({change.thread for change in (*seam, *kernel)}):
        said = [change for change in seam if change.thread == thread]
        done = [change for change in kernel if change.thread == thread]
        if said == done:
            continue
        missing, extra = Counter(done) - Counter(said), Counter(said) - Counter(done)
        told += [f"past the volume: {change.verb} {change.path}" for change in missing]
        told += [f"the kernel was never asked: {change.verb} {change.path}" for change in extra]
        if not missing and not extra:
            told.append(f"thread {thread} changed the same in another order")
    return told


def shape(change: Change) -> str:
    """Return a change without what differs from run to run: ids, tokens, processes, times."""
    path = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", change.path)
    path = re.sub(r"\.\d+\.UUID", ".PID.UUID", path)
    path = re.sub(r"[0-9a-f]{24,64}", "ID", path)
    path = re.sub(r"/[0-9a-f]{2}(?=/|$)", "/XX", path)
    return f"{change.verb} {re.sub('[0-9]{4}-[0-9]{2}-[0-9]{2}', 'DAY', path)}"


def _changes(log: Path, root: Path) -> Iterator[Change]:
    started: dict[int, str] = {}
    for line in log.read_text().splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        thread, text = int(found[1]), found[2]
        if (cut := _UNFINISHED.fullmatch(text)) is not None:
            started[thread] = cut[1]
            continue
        if (rest := _RESUMED.fullmatch(text)) is not None:
            text = started.pop(thread, "") + rest[1]
        call = _CALL.fullmatch(text)
        if call is not None and not call[3].startswith("-"):
            yield from _change(thread, call[1], call[2], root)


def _change(thread: int, name: str, arguments: str, root: Path) -> Iterator[Change]:
    """Yield the change that one call made below the root, if it made any."""
    if name.startswith("open") and not re.search("O_(WRONLY|RDWR|CREAT|TRUNC)", arguments):
        return
    if name == "mmap" and not ("PROT_WRITE" in arguments and "MAP_SHARED" in arguments):
        return
    verb = _SAME.get(name, name)
    if name == "unlinkat" and "AT_REMOVEDIR" in arguments:
        verb = "rmdir"
    elif name == "unlinkat":
        verb = "unlink"
    paths = [Path(each) for each in (_NAMED.findall(arguments) or _OPENED.findall(arguments)) if each]
    if name not in ("write", "pwrite64", "writev") and paths and paths[-1].is_relative_to(root):
        yield Change(thread, verb, paths[-1].relative_to(root).as_posix())
    elif verb == "write":
        opened = _OPENED.match(arguments)
        if opened is not None and Path(opened[1]).is_relative_to(root):
            yield Change(thread, verb, Path(opened[1]).relative_to(root).as_posix())


def _merged(changes: Iterator[Change]) -> Iterator[Change]:
    """Take the writes of one file that follow each other for one: how many there are is the kernel's affair."""
    last: dict[int, Change] = {}
    for change in changes:
        if change.verb != "write" or last.get(change.thread) != change:
            yield change
        last[change.thread] = change
