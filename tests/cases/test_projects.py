"""Cases A-072 to A-077 and A-081, A-083: whose memory it is, on whose machine, and in which version."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
import rfc8785

from curator.model.digest import canonical, digest_of
from tests.acceptance.processes import TEXT, ended, wait_until
from tests.cases.scene import Here, Sessions, failing, needs, raw, serve, sessions
from tests.cli.commands import CURATOR, assert_refused, environ_of
from tests.session_lines import assistant, header, lines, user

GIT: Final = ("git", "-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "init.defaultBranch=main")
STRING_TEST: Final = """
const fs = require('fs'), crypto = require('crypto');
const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const canonical = (v) => Array.isArray(v) ? '[' + v.map(canonical).join(',') + ']'
  : v && typeof v === 'object' ? '{' + Object.keys(v).sort(order).map(k => JSON.stringify(k) + ':' + canonical(v[k])).join(',') + '}'
  : JSON.stringify(v);
for (const line of fs.readFileSync(process.argv[1], 'utf8').split('\\n').filter(Boolean))
  console.log(crypto.createHash('sha256').update(canonical(JSON.parse(line)), 'utf8').digest('hex'));
"""
"""Canonical JSON as a few lines of JavaScript have it, keys in the order of UTF-16 units."""


@pytest.fixture
def scene(tmp_path: Path) -> Sessions:
    return sessions(tmp_path)


def said(word: str, **more: str) -> bytes:
    return lines(header(**more), user("u1", None, f"Always use {word}."), assistant("a1", "u1", "Yes."))


def test_a_072_projects_whose_names_look_alike_share_nothing(scene: Sessions) -> None:
    place = scene.place
    names = (
        "\u65b0\u805e",
        "\u66ab\u5b58",
        "\u041f\u0440\u043e\u0435\u043a\u0442",
        "\u041f\u0440\u0438\u0432\u0435\u0442",
        "a-b",
        "a/b",
    )
    keys: dict[str, object] = {}
    for number, name in enumerate(names):
        root = place.home / "p" / name
        root.mkdir(parents=True)
        path = scene.lay(f"{number}.jsonl", said(f"tool {number}", id=f"s{number}", cwd=str(root)))
        ran = place.run("enqueue", "--session", str(path), "--json")
        assert ran.status == 0, ran.err
        assert ran.document["projectRoot"] == str(root), "the header says whose it is, not the folder"
        keys[name] = ran.document["projectKey"]
    place.review()

    assert len(set(keys.values())) == len(names)
    shown = {
        name: place.run("memory", "show", "--project", str(place.home / "p" / name), "--json").document
        for name in names
    }
    assert [len(each["entries"]) for each in shown.values() if isinstance(each["entries"], list)] == [1] * len(names)
    assert len({json.dumps(each["entries"]) for each in shown.values()}) == len(names)


def test_a_073_a_project_that_was_renamed_keeps_its_memory_and_its_jobs_go_nowhere_else(scene: Sessions) -> None:
    place = scene.place
    first = place.enqueue(key := place.project())
    place.review()
    waiting = place.enqueue(key, "entry-2", "USER: We decided that dates are stored in UTC.")
    old, new = place.home / "code", place.home / "renamed"
    before = {path: path.read_bytes() for path in place.layout.project(key).root.rglob("*.json")}
    old.rename(new)

    ran = place.review()

    assert f"{old}: the project's folder is gone" in ran.err
    assert (place.ending(first), place.ending(waiting)) == ("applied", "queued")
    assert {path: path.read_bytes() for path in before} == before
    shown = place.run("status").out + place.run("project", "list").out
    assert str(old) in shown
    assert place.run("memory", "show", "--project", str(new)).status == 66
    old.symlink_to(new)
    place.let_go_on(waiting)
    through_a_link = place.review()
    assert f"{old}: the project root now leads to {new}, which is another project" in through_a_link.err
    assert place.ending(waiting) == "queued"
    old.unlink()
    linked = place.run("project", "link", str(old), str(new), "--yes")
    assert linked.status == 0, linked.err
    place.let_go_on(waiting) if place.ending(waiting) == "queued" else None
    place.review()
    assert TEXT in place.run("memory", "show", "--project", str(new)).out


def test_a_074_a_project_through_a_link_is_the_same_project(scene: Sessions) -> None:
    place = scene.place
    link = place.home / "through-a-link"
    link.symlink_to(scene.project)
    path = scene.lay("s.jsonl", said("tabs"))
    kept = path.parent.with_name("kept")
    path.parent.rename(kept)
    path.parent.symlink_to(kept)

    ran = [
        place.run("enqueue", "--session", str(path), "--project", str(each), "--json") for each in (scene.project, link)
    ]

    assert [each.document["result"] for each in ran] == ["enqueued", "duplicate"]
    assert len({each.document["projectKey"] for each in ran}) == 1
    (scene.project / "loop").symlink_to("loop")
    looped = place.run("enqueue", "--session", str(path), "--project", str(scene.project / "loop"))
    assert (looped.status, "Too many levels of symbolic links" in looped.err) == (74, True)
    (scene.project / "broken").symlink_to("nowhere")
    assert_refused(
        place.run("enqueue", "--session", str(path), "--project", str(scene.project / "broken")), 66, "broken"
    )


@pytest.mark.skipif(needs("git"), reason="git is not installed")
def test_a_075_a_worktree_is_a_project_of_its_own_and_its_jobs_wait_when_it_is_gone(scene: Sessions) -> None:
    place, tree = scene.place, scene.place.home / "tree"
    for command in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "x"), ("worktree", "add", "-q", str(tree))):
        subprocess.run([*GIT, *command], cwd=scene.project, check=True, env=environ_of(place.home))
    path = scene.lay("s.jsonl", said("tabs"))
    here = place.run("enqueue", "--session", str(path), "--project", str(tree), "--json")
    there = scene.enqueue(path, "--json")
    assert here.document["projectKey"] != there.document["projectKey"]
    shutil.rmtree(tree)

    ran = place.review()

    assert f"{tree}: the project's folder is gone" in ran.err
    (waiting,) = scene.queued()
    assert (waiting.project_key, "Always use tabs" in waiting.transcript) == (here.document["projectKey"], True)
    assert str(tree) in place.run("jobs", "list").out or waiting.id[:15] in place.run("jobs", "list").out


@pytest.mark.skipif(needs("strace"), reason="strace is not installed")
def test_a_076_a_folder_that_is_denied_is_told_apart_from_one_that_is_gone(scene: Sessions) -> None:
    place = scene.place
    job = place.enqueue(key := place.project())
    root = place.home / "code"
    before = place.texts(key)
    denied = (*failing("readlink,readlinkat,lstat,newfstatat,stat,statx:error=EPERM"), "-P", str(root))

    ran = ended(place.start("review", "--once", before=denied))

    assert "Operation not permitted" in ran.err
    assert str(root) in ran.err
    assert "is gone" not in ran.err
    assert "Check who owns it and what its mode allows" in ran.err
    assert (place.ending(job), place.texts(key)) == ("queued", before)
    session = scene.lay("s.jsonl", said("tabs"))
    argv = ("enqueue", "--session", str(session), "--project", str(scene.project))
    unread = ended(place.start(*argv, before=(*failing("openat:error=EPERM"), "-P", str(session))))
    assert_refused(unread, 74, session, "Operation not permitted")


@pytest.mark.skipif(os.geteuid() != 0 or needs("setpriv"), reason="only root can give files to another")
@pytest.mark.parametrize("where", ["branches/main.json", "project.json"])
def test_a_077_a_file_of_root_is_named_and_costs_its_project_alone(where: str, tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    blocked, healthy = place.enqueue(key := place.project("blocked")), place.enqueue(place.project("healthy"))
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.lchown(path, 65_534, 65_534)
    for folder in (tmp_path.parent, tmp_path.parent.parent, tmp_path.parent.parent.parent):
        if folder != Path("/tmp"):  # noqa: S108 - the root of pytest's own folders
            folder.chmod(folder.stat().st_mode | 0o011)
    path = place.layout.project(key).root / where
    os.chown(path, 0, 0)
    argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *CURATOR, "review", "--once"]
    environ = environ_of(tmp_path, PI_CODING_AGENT_DIR=str(place.layout.agent))

    ran = subprocess.run(argv, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    if "can't open file" in ran.stderr or "No module named" in ran.stderr or "Permission denied: '/" in ran.stderr:
        pytest.skip("another account cannot run this installation")

    assert (str(path) in ran.stderr, "belongs to user 0" in ran.stderr) == (True, True), ran.stderr
    assert (place.ending(blocked), place.ending(healthy)) == ("queued", "applied"), ran.stdout + ran.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be refused as root")
@pytest.mark.parametrize("command", [("review", "--once"), ("config", "init"), ("status",)], ids=" ".join)
def test_a_077_root_is_refused_in_a_home_that_is_not_its_own(command: tuple[str, ...], tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    place.enqueue(place.project())
    os.chown(place.layout.agent, 65_534, 65_534)
    before = place.tree()

    assert_refused(place.run(*command), 65, place.layout.agent, "belongs to user 65534", "without sudo")

    assert place.tree() == before


@pytest.mark.parametrize(("name", "is_taken"), [("newer", False), ("extra_field", True)])
def test_a_081_a_newer_version_is_refused_untouched_and_fields_that_are_not_known_are_the_protocols_to_drop(
    name: str, tmp_path: Path, *, is_taken: bool
) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    path = place.layout.project(key).branches / "main.json"
    path.write_bytes(raw(f"A-081/{name}.json"))

    ran = place.review()

    if not is_taken:
        assert (str(path) in ran.err, "version" in ran.err) == (True, True)
        assert (place.ending(job), path.read_bytes()) == ("queued", raw(f"A-081/{name}.json"))
    else:
        assert place.ending(job) == "applied"
        assert json.loads(path.read_text("utf-8"))["entries"][0]["id"] == "mem_aaaa0001"


def test_a_081_a_job_of_a_newer_version_is_set_aside_whole(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(place.project())
    path = place.layout.queued / f"{job.id}.json"
    newer = path.read_bytes().replace(b'"version":1', b'"version":2', 1)
    path.write_bytes(newer)

    ran = place.review()

    (letter,) = place.layout.dead_letter.glob(f"{path.name}.*.bad")
    assert letter.read_bytes() == newer
    assert "is not 1" in ran.err


@pytest.mark.parametrize("line", raw("A-083/canon_vectors.jsonl").splitlines())
def test_a_083_canonical_json_and_its_digest_are_those_of_the_standard(line: bytes) -> None:
    value = json.loads(line)

    assert canonical(value).encode() == rfc8785.dumps(value)
    assert digest_of(value) == hashlib.sha256(rfc8785.dumps(value)).hexdigest()


@pytest.mark.skipif(needs("node"), reason="node is not installed")
def test_a_083_canonical_json_and_its_digest_are_those_of_javascript(tmp_path: Path) -> None:
    path = tmp_path / "vectors.jsonl"
    path.write_bytes(raw("A-083/canon_vectors.jsonl"))

    told = subprocess.run(["node", "-e", STRING_TEST, str(path)], capture_output=True, text=True, check=True).stdout

    assert told.split() == [digest_of(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.skipif(needs("strace"), reason="strace is not installed")
def test_a_054_without_a_watcher_one_warning_is_told_and_jobs_are_found_by_looking(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    jobs = [place.enqueue(place.project(f"p{number}")) for number in range(3)]
    service = serve(place, *failing("inotify_init,inotify_init1:error=EMFILE"))
    try:
        wait_until(lambda: all(place.ending(job) == "applied" for job in jobs))
    finally:
        service.terminate()
        ran = ended(service)

    (warning,) = [line for line in ran.err.splitlines() if "cannot be watched" in line]
    assert "looking every 15 s instead" in warning
