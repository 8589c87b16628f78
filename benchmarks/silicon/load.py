"""Loads from L1 to L0A, L0B and the tables, plain and unfolding: [asc-devkit] tests/perf."""

from __future__ import annotations

from benchmarks.silicon.family import Family, Outcome, Settings, active_cycles, base_name, timed
from pypto.target.memory import CoreKind, Pipe
from pypto.target.one_launch import one_launch
from pypto.target.soc import Soc
from pypto.target.structured import StructuredBuilder

HEIGHT_BIT = 16  # of the height of the image in its mode register
FRACTAL_BYTES = 512
TABLES = {"bt": ("copy_cbuf_to_bt.b32", 64), "fb": ("copy_cbuf_to_fbuf.b32", 128)}  # unit in bytes


def measure(machine: Soc, s: Settings) -> Outcome:
    """One load of ``fractals`` times 512 bytes to ``to``, cycles with the latency.

    ``width`` 0: as they lie, or turned; else the ``channels`` channels of so many positions of an
    image of that width, under a filter of one position.
    """
    fractals, width, channels = int(s["fractals"]), int(s["width"]), int(s["channels"])
    target = str(s["to"])
    builder = StructuredBuilder("load", CoreKind.CUBE)
    name = {"l0a": "ca", "l0b": "cb"}.get(target, target)
    if target in TABLES:
        mnemonic, unit = TABLES[target]
        builder.issue(mnemonic, dst=0, src=0, length=fractals * FRACTAL_BYTES // unit)
    elif width == 0:
        builder.issue(
            f"load_cbuf_to_{name}.b16", dst=0, src=0, index=0, repeat=fractals, dst_gap=0,
            transpose=int(s["transpose"]),
        )  # fmt: skip
    else:
        positions = fractals * 256 // channels
        builder.issue("set_fmatrix", value=width | positions // width << HEIGHT_BIT)
        builder.issue(
            f"img2colv2_cbuf_to_{name}.b16", dst=0, src=0, step_k=channels, step_m=positions,
            pos_m=0, channels=channels,
        )  # fmt: skip
    outcome = timed(one_launch(base_name(machine), [builder.build()], 1, {}), machine)
    return active_cycles(outcome, Pipe.FIX if target == "fb" else Pipe.MTE1)


LOAD = Family(
    name="load",
    summary="one load from L1 to L0A, L0B or a table",
    settings={"to": "l0a", "fractals": 32, "transpose": 0, "width": 0, "channels": 64},
    measure=measure,
    rows={
        "load2d_l0a_8": {"fractals": 8},
        "load2d_l0a_64": {"fractals": 64},
        "load2d_l0a_turned": {"transpose": 1},
        "load2d_l0b_8": {"to": "l0b", "fractals": 8},
        "load2d_l0b_64": {"to": "l0b", "fractals": 64},
        "load3d_l0a_one_line": {"width": 128},
        "load3d_l0a_four_lines": {"width": 32},
        "load3d_l0b_one_line": {"to": "l0b", "width": 128},
        "load3d_l0b_four_lines": {"to": "l0b", "width": 32},
        "load_bt": {"to": "bt", "fractals": 2},
        "load_fb": {"to": "fb", "fractals": 4},
    },
)
