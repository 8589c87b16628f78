"""What fits into the device's memory, asked before anything is allocated."""

from __future__ import annotations

from collections.abc import Iterable

from pypto.errors import DeviceError, SourceLocation
from pypto.target.soc import soc as load_soc


def readable_bytes(count: int) -> str:
    """A byte count for people: ``1.5 GiB``."""
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"


def check_fits(
    soc: str, sizes: Iterable[int], what: str, location: SourceLocation | None = None
) -> None:
    """Raise DEVICE_MEMORY_EXHAUSTED unless buffers of these sizes fit together."""
    needed = sum(sizes)
    machine = load_soc(soc)
    if needed <= machine.hbm_bytes:
        return
    raise DeviceError(
        "DEVICE_MEMORY_EXHAUSTED",
        f"{what} of {readable_bytes(needed)} does not fit: {machine.name} has "
        f"{readable_bytes(machine.hbm_bytes)} of memory",
        location=location,
        fix="work on smaller pieces (split the batch), or use float16 instead of float32",
    )
