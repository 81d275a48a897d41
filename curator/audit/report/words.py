"""How figures and moments are written on the page: short, in UTC, and the same wherever it is opened."""

from __future__ import annotations

from typing import Final

from curator.audit.report.markup import Element, element
from curator.model.times import is_iso

_DOLLAR_NANO: Final = 1_000_000_000
_LEAST_NANO: Final = 100_000
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000))
_SECOND_MS: Final = 1_000
_TENTHS_BELOW_MS: Final = 10_000


def dollars(nano: int) -> str:
    """Return an amount: to the cent, or below a dollar to the hundredth of one."""
    if not nano:
        return "$0"
    if nano < _LEAST_NANO:
        return "under $0.0001"
    return f"${nano / _DOLLAR_NANO:,.2f}" if nano >= _DOLLAR_NANO else f"${nano / _DOLLAR_NANO:.4f}"


def span(ms: int) -> str:
    """Return a length of time in its largest unit."""
    for name, size in _UNITS:
        if ms >= size:
            return f"{ms // size} {name}"
    if ms >= _TENTHS_BELOW_MS:
        return f"{ms // _SECOND_MS} s"
    return f"{ms / _SECOND_MS:.1f} s" if ms >= _SECOND_MS else f"{max(0, ms)} ms"


def moment(iso: str) -> Element | str:
    """Return a moment of the protocol, to the minute; what is none is shown as it stands."""
    if not is_iso(iso):
        return iso
    return element("time", f"{iso[:10]} {iso[11:16]} UTC", datetime=iso)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return `1 job` or `2 jobs`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(parts: list[str]) -> str:
    """Return `a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
