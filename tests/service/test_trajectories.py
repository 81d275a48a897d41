"""The service takes in what Pi handed over at its quiet moments, and a bad file costs that file."""

from __future__ import annotations

import signal
from pathlib import Path

from curator.durable.volume import Volume
from curator.tracks.trajectory.ledger import Ledger
from tests.acceptance.processes import Place, ended, wait_until
from tests.kit import HandClock
from tests.service.test_service import lines, serving
from tests.tracks.trajectory.ledgers import delta, key_of, texts


def test_what_pi_handed_over_is_taken_in_beside_the_jobs(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    key = place.project()
    root = tmp_path / "said"
    said = key_of(root)
    inbox = place.layout.trajectory_inbox.root
    inbox.mkdir(parents=True, mode=0o700)
    (inbox / "a.json").write_text("{")
    (inbox / "b.json").write_bytes(delta(root, (0, 1)))
    with serving(place) as service:
        job = place.enqueue(key)
        wait_until(lambda: not list(inbox.glob("*.json")))
        wait_until(lambda: place.ending(job) == "applied")
        service.send_signal(signal.SIGTERM)
        ran = ended(service)

    ledger = Ledger(place.layout.trajectory(said), Volume(), HandClock())
    (leaf,) = ledger.leaves()
    assert list(texts(ledger, leaf.digest)) == ["USER: p said 0", "USER: p said 1"]
    told = [line for line in lines(ran) if line.get("subject") == "trajectory inbox a.json"]
    assert [line["code"] for line in told] == ["refused"]
    assert (inbox / "refused" / "a.json.why.json").exists()
    assert ran.status == 0
