"""Matrix multiplications of f16, by the schedules that their public sources fix.

``depth`` 1 and steps of 1 are the base template of the Matmul API of asc-devkit, ``depth`` 2 with
larger packets its MDL template and the kernels of hw-native-sys/pto-isa; ``ahead`` is where the
next packet is requested. The scalar work of that API is not imitated. With ``gelu`` the vector
cores of each group follow, tile by tile.
"""

from __future__ import annotations

from benchmarks.silicon.family import Family, Outcome, Settings, base_name, timed
from benchmarks.silicon.gelu_program import gelu_program
from benchmarks.silicon.matmul_program import matmul_program
from benchmarks.silicon.matmul_schedule import L1_HALF, Ahead, Layout, MatmulSchedule
from pypto.target.dtypes import F16, F32
from pypto.target.one_launch import one_launch
from pypto.target.soc import Soc

OUT = {"f16": F16, "f32": F32}
YES_NO = {"yes": True, "no": False}


def schedule_of(s: Settings) -> MatmulSchedule:
    """The schedule that settings describe; a panel of 0 is an equal share of the matrix."""
    numbers = {name: int(value) for name, value in s.items() if not isinstance(value, str)}
    step = numbers["step_k"]
    return MatmulSchedule(
        m=numbers["M"],
        n=numbers["N"],
        k=numbers["K"],
        grid_m=numbers["grid_m"],
        grid_n=numbers["grid_n"],
        panel_m=numbers["panel_m"] or -(-numbers["M"] // numbers["grid_m"]),
        panel_n=numbers["panel_n"] or -(-numbers["N"] // numbers["grid_n"]),
        base_m=numbers["base_m"],
        base_n=numbers["base_n"],
        base_k=numbers["base_k"],
        step_a=numbers["step_a"] or step,
        step_b=numbers["step_b"] or step,
        depth=numbers["depth"],
        l1_b=numbers["l1_b"],
        columns_outside=s["outer"] == "columns",
        ahead=Ahead(s["ahead"]),
        stagger=YES_NO[str(s["stagger"])],
        unit_flag=YES_NO[str(s["unit_flag"])],
        tells=YES_NO[str(s["gelu"])],
        layout=Layout(s["layout"]),
        out=OUT[str(s["out"])],
    )


def measure(machine: Soc, s: Settings) -> Outcome:
    schedule = schedule_of(s)
    programs = [matmul_program(schedule)]
    if schedule.tells:
        programs.append(gelu_program(schedule))
    executable = one_launch(base_name(machine), programs, schedule.cores, schedule.shapes())
    return timed(executable, machine)


PTO = {"grid_m": 4, "grid_n": 6, "step_k": 4, "l1_b": 131_072, "outer": "rows"}
SERIAL = {"depth": 1, "step_k": 1, "out": "f16"}  # one base block of A and of B in L1
LADDER = {
    "M": 8192, "N": 8192, "K": 8192, "grid_m": 4, "grid_n": 6, "panel_m": 2048, "panel_n": 1536,
    "out": "f16",
}  # fmt: skip
PACKETS = LADDER | {"step_a": 8, "step_b": 4}
HALVES = PACKETS | {"panel_m": 1024}  # M in two halves, one after the other
BASIC = PACKETS | {"ahead": "behind_use", "unit_flag": "yes"}
TILED = {"step_k": 4, "l1_b": 131_072, "layout": "kn", "panel_m": 128, "panel_n": 256}
SQUARE = TILED | {"M": 6144, "N": 6144, "K": 6144, "out": "f16"}
NARROW = {
    "M": 20, "N": 6144, "K": 16384, "grid_n": 20, "step_k": 4, "ahead": "one", "stagger": "yes",
    "unit_flag": "yes", "out": "f16",
}  # fmt: skip
WIDE_TILE = {"panel_m": 128, "panel_n": 256, "l1_b": 131_072}
FLAT_TILE = {
    "panel_m": 32, "panel_n": 320, "base_m": 32, "base_n": 320, "base_k": 32, "l1_b": 16_384,
}  # fmt: skip
TWENTY = {
    "M": 4096, "N": 5120, "K": 4096, "grid_m": 4, "grid_n": 5, "panel_m": 1024, "panel_n": 1024,
    "layout": "kn",
}  # fmt: skip
SMALL_TILE = {"base_m": 64, "base_n": 64, "base_k": 256}
STAGGER = {
    "M": 768, "N": 2048, "K": 6144, "grid_m": 6, "grid_n": 4, "step_k": 4, "layout": "kn",
    "l1_b": 131_072,
}  # fmt: skip

GEMM = Family(
    name="gemm",
    summary="matrix multiplications of f16 on cube cores",
    settings={
        "M": 1536, "N": 1536, "K": 1536, "grid_m": 1, "grid_n": 1, "panel_m": 0, "panel_n": 0,
        "base_m": 128, "base_n": 256, "base_k": 64, "step_k": 1, "step_a": 0, "step_b": 0,
        "depth": 2, "l1_b": L1_HALF, "outer": "columns", "ahead": "not", "stagger": "no",
        "unit_flag": "no", "gelu": "no", "layout": "nk", "out": "f32",
    },
    measure=measure,
    rows={
        "G1": LADDER | SERIAL | {"grid_m": 1, "grid_n": 1, "panel_m": 8192, "panel_n": 8192,
                                 "base_m": 64, "base_n": 64},
        "G2": LADDER | SERIAL | {"grid_m": 1, "grid_n": 1, "panel_m": 8192, "panel_n": 8192},
        "G3": LADDER | SERIAL | {"grid_m": 2, "grid_n": 12, "panel_m": 4096, "panel_n": 683},
        "G4": LADDER | SERIAL,
        "G5": LADDER | {"step_a": 2, "step_b": 4},
        "G6": PACKETS,
        "G7": HALVES,
        "G8": HALVES,
        "G9": HALVES | {"unit_flag": "yes"},
        "G10a": BASIC,
        "G10b": BASIC | {"panel_m": 1024},
        "G12": PTO | {"M": 1536, "N": 1536, "K": 1536},
        "G14": PTO | {"M": 6144, "N": 6144, "K": 6144},
        "G16a": SQUARE | {"grid_n": 24},
        "G16b": SQUARE | {"grid_m": 6, "grid_n": 4},
        "G19a": NARROW | WIDE_TILE | {"layout": "zn"},
        "G19b": NARROW | FLAT_TILE | {"layout": "zn"},
        "G19c": NARROW | WIDE_TILE | {"layout": "kn"},
        "G19d": NARROW | FLAT_TILE | {"layout": "kn"},
        "G25a": TWENTY | SMALL_TILE | {"grid_n": 1},
        "G25b": TWENTY | SMALL_TILE,
        "G26a": TWENTY,
        "G26b": TWENTY | {"step_k": 4, "l1_b": 131_072},
        "G29a": STAGGER,
        "G29b": STAGGER | {"stagger": "yes"},
        "G38a": BASIC | {"out": "f32"},
        "G38b": BASIC | {"out": "f32", "gelu": "yes"},
    },
)  # fmt: skip
