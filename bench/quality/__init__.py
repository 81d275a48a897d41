"""How good the offline reviewer is on the frozen corpus: `python -m bench.quality`."""
