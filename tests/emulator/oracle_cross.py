"""An independent judge of a launch on one group of cores: a graph of events, no clocks.

Every data instruction has a start and an end, every set an issue and an effect; edges say what
must come before what. Straight-line programs only.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from pypto.emulator.hazards import trace
from pypto.target.executable import Executable
from pypto.target.memory import CoreKind
from tests.emulator.mixed_programs import COUNT, mixed

S, ALL = 0, 7
CUBE = 0
PLACES = {"x": 0, "w": 2**20, "z": 2**21}
Event = tuple[str, int, int]
Site = tuple[int, int]


@dataclass
class LaunchVerdict:
    """Races are pairs of (core, row)."""

    deadlock: bool = False
    unbalanced: bool = False
    overflow: bool = False
    races: set[tuple[Site, Site]] = field(default_factory=set)


def sources(core: int, mode: int) -> list[int]:
    """Of the cores 0 (cube), 1 and 2 (vector): whose sets of a mode reach a core."""
    if mode == 0:
        return [CUBE] if core == CUBE else [1, 2]
    if mode == 1:
        return [] if core == CUBE else [1, 2]
    return [1, 2] if core == CUBE else [CUBE]


def judge_launch(executable: Executable) -> LaunchVerdict:
    """The verdict on a launch of two straight-line programs on one group."""
    before: dict[Event, set[Event]] = defaultdict(set)
    sets: dict[tuple[int, int, int], list[Event]] = defaultdict(list)
    waits: dict[tuple[int, int], list[Event]] = defaultdict(list)
    flags: dict[tuple[int, ...], dict[str, list[Event]]] = defaultdict(lambda: defaultdict(list))
    touched: list[tuple[Site, Event, Event, bool, tuple[int, int]]] = []
    for core in range(3):
        program = executable.programs[min(core, 1)]
        ends: dict[int, list[Event]] = defaultdict(list)
        last: dict[int, Event] = {}
        hold: list[Event] = []
        previous: list[Event] = []
        for i, one in enumerate(
            trace(program, 0, 1, list(PLACES.values()), core=core, sub_block=max(core - 1, 0))
        ):
            name, pipe = one.form.mnemonic, one.form.queue(one.operands)
            dispatch, this = ("dispatch", core, i), ("node", core, i)
            before[dispatch] |= {*previous, *hold}
            previous = [dispatch]
            before[this] |= {dispatch, *([last[pipe]] if pipe in last else [])}
            last[pipe] = this
            over = this
            if name == "ffts_cross_core_sync":
                over = ("effect", core, i)
                before[over] |= {this, *ends[pipe]}
                _, mode, number = one.operands
                sets[core, mode, number].append(over)
            elif name == "wait_flag_dev":
                waits[core, one.operands[0]].append(this)
            elif name == "set_flag":
                over = ("effect", core, i)
                before[over] |= {this, *ends[pipe]}
                flags[core, *one.operands]["set"].append(over)
            elif name == "wait_flag":
                flags[core, *one.operands]["wait"].append(this)
            elif name == "pipe_barrier":
                every = [e for other in list(ends) for e in ends[other]]
                before[this] |= set(every if one.operands[0] == ALL else ends[pipe])
            else:
                over = ("end", core, i)
                before[over].add(this)
                values = dict(zip((o.name for o in one.form.operands), one.operands, strict=True))
                if "gm" in name:
                    writes = name.startswith("copy_ubuf")
                    start = values["dst" if writes else "src"]
                    stop = start + values["length"] * (32 if "cbuf" in name else 1)
                    touched.append(((core, one.row), this, over, writes, (start, stop)))
            ends[pipe].append(over)
            if pipe == S:
                hold = [this]
    verdict = LaunchVerdict()
    for pair in flags.values():
        for effect, wait in zip(pair["set"], pair["wait"], strict=True):
            before[wait].add(effect)
    for (core, number), found in waits.items():
        for i, wait in enumerate(found):
            modes = [m for m in range(3) if any(sets[s, m, number] for s in sources(core, m))]
            if len(modes) != 1 or any(
                len(sets[s, modes[0], number]) <= i for s in sources(core, modes[0])
            ):
                verdict.deadlock = True
                return verdict
            for source in sources(core, modes[0]):
                before[wait].add(sets[source, modes[0], number][i])
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        verdict.deadlock = True
        return verdict
    bit = {event: 1 << n for n, event in enumerate(order)}
    earlier: dict[Event, int] = {}
    for event in order:
        earlier[event] = 0
        for source in before[event]:
            earlier[event] |= earlier[source] | bit[source]
    for (source, mode, number), effects in sets.items():
        for target in range(3):
            if source in sources(target, mode):
                verdict.unbalanced |= len(effects) > len(waits[target, number])
                for i, effect in enumerate(effects[15:]):
                    found = waits[target, number]
                    if len(found) <= i or not earlier[effect] & bit[found[i]]:
                        verdict.overflow = True
    for b, (site, start, end, writes, (low, high)) in enumerate(touched):
        for other_site, other_start, other_end, other_writes, (first, stop) in touched[:b]:
            if not (writes or other_writes) or low >= stop or first >= high:
                continue
            if not earlier[start] & bit[other_end] and not earlier[other_start] & bit[end]:
                verdict.races.add((other_site, site))
    return verdict


def random_launch(draw: random.Random) -> Executable:
    """Both programs: copies of w and z through local memory, sets and waits, some of them right.

    Every id has one mode and one pipe per kind, so that nothing is mixed.
    """
    ids = {0: (2, "mte3"), 1: (2, "mte2"), 2: (1, "mte3"), 3: (0, "mte2"), 4: (2, "mte2")}

    def cube_lines() -> list[str]:
        lines = []
        for _ in range(draw.randint(2, 7)):
            kind = draw.choice(["load", "load", "set", "wait", "barrier"])
            place = 256 * draw.randint(0, 3)
            if kind == "load":
                local = 1024 * len(lines)
                lines += [
                    f"  add r8, r5, {place}",
                    f"  copy_gm_to_cbuf.b32 dst={local}, src=r8, length=8",
                ]
            elif kind == "set":
                lines.append(f"  ffts_cross_core_sync mte2, 2, {draw.choice([1, 4])}")
            elif kind == "wait":
                lines.append(f"  wait_flag_dev {draw.choice([0, 0, 1])}")
            else:
                lines.append("  pipe_barrier all")
        return lines

    def vector_lines() -> list[str]:
        lines = []
        for _ in range(draw.randint(2, 9)):
            kind = draw.choice(["store", "store", "load", "set", "wait", "barrier", "flag"])
            place = 256 * draw.randint(0, 3)
            own = draw.choice(["", "  mul r9, r2, 256", "  mul r9, r2, 512"])
            if kind in ("load", "store"):
                lines += [own or "  mov r9, 0", "  add r9, r9, r5", f"  add r9, r9, {place}"]
                if kind == "store":
                    lines.append("  copy_ubuf_to_gm_align.b32 dst=r9, src=0, length=256")
                else:
                    local = 4096 + 512 * len(lines)
                    line = f"copy_gm_to_ubuf_align.b32 dst={local}, src=r9, length=256"
                    lines.append(f"  {line}")
            elif kind == "set":
                number = draw.choice([0, 0, 1, 2, 3])
                mode, pipe = ids[number]
                lines.append(f"  ffts_cross_core_sync {pipe}, {mode}, {number}")
            elif kind == "wait":
                lines.append(f"  wait_flag_dev {draw.choice([1, 2, 3, 4])}")
            elif kind == "flag":
                pair = draw.choice(["mte2, mte3", "mte3, mte2"])
                lines += [f"  set_flag {pair}, 0", f"  wait_flag {pair}, 0"]
            else:
                lines.append("  pipe_barrier all")
        return lines

    fill = "  vector_dup.f32 dst=0, scalar=1.0\n  set_flag v, mte3, 1\n  wait_flag v, mte3, 1\n"
    assert COUNT * 4 >= 4 * 1024
    made = mixed("\n".join(cube_lines()), fill + "\n".join(vector_lines()))
    assert made.programs[0].core is CoreKind.CUBE
    return made
