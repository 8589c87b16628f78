"""Drawn kernels, loops and branches nested in each other: clean for any trip counts and events."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest
from xdsl.dialects import func

from pypto.codegen.kernel import build_program
from pypto.dialects.context import make_context, parse_module
from pypto.emulator.hazards import GlobalBuffer, HazardKind, check_program, trace
from pypto.passes.tik import insert_sync
from pypto.passes.tik.insert_sync import InsertSync
from pypto.target.program import Program
from pypto.target.soc import soc
from tests.emulator.oracle import judge

BYTES = 256
TRIPS = list(itertools.product(range(4), repeat=2))
ADDRESSES = [0, 4096]
BUFFERS = [GlobalBuffer(name, ADDRESSES[i], 4096) for i, name in enumerate("ac")]
# What no order of instructions cures: drawn kernels read what nobody wrote.
CONTENT = (HazardKind.UNINIT_READ, HazardKind.UNWRITTEN)


@dataclass
class Block:
    """Where statements are drawn: the slots and the induction variable they may use."""

    depth: int = 0
    slots: list[str] = field(default_factory=list)
    turn: str | None = None


class DrawnKernel:
    """The text of a placed kernel ``(a, c, trips, trips)`` that also reads what it stores."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.names = (f"%v{number}" for number in itertools.count())
        self.buffers = {f"%b{number}": self.draw.choice((1, 2, 2, 3)) for number in range(4)}

    def text(self) -> str:
        allocations = [
            f'{name} = tik.alloc "{name[1:]}" bytes {BYTES} slots {slots}'
            f" address {BYTES * self.draw.randint(0, 8)} : !tik.buffer<ub>"
            for name, slots in self.buffers.items()
        ]
        constants = [f"%{number} = arith.constant {number} : index" for number in range(4)]
        lines = [*constants, *allocations, *self.statements(Block())]
        body = "\n".join(lines)
        parameters = "%a: !tik.ptr<gm>, %c: !tik.ptr<gm>, %t0: index, %t1: index"
        attributes = 'attributes {pypto.kernel = "vector", tik.stage = "placed"}'
        return f"""builtin.module {{
            func.func @kernel({parameters}) {attributes} {{
            {body}
            func.return
            }}
        }}"""

    def statements(self, block: Block) -> Iterator[str]:
        if block.depth == 0:
            yield from self.load(block, "%c")
        for _ in range(self.draw.randint(1, 4)):
            kinds = ["load", "compute", "compute", "store"]
            if block.depth < 3:
                kinds += ["loop", "loop", "branch"]
            match self.draw.choice(kinds):
                case "load":
                    yield from self.load(block, self.draw.choice(("%a", "%c")))
                case "compute":
                    yield from self.slot(block)
                    source, target = (self.draw.choice(block.slots) for _ in range(2))
                    yield f"tik.vabs.f32 dst = {target}, src = {source}"
                case "store":
                    yield from self.slot(block)
                    held = self.draw.choice(block.slots)
                    yield f"tik.copy_ubuf_to_gm_align.b32 dst = %c, src = {held}, length = {BYTES}"
                case "loop":
                    turn = next(self.names)
                    trips = self.draw.choice(("%t0", "%t1"))
                    yield f"scf.for {turn} = %0 to {trips} step %1 {{"
                    yield from self.statements(Block(block.depth + 1, [*block.slots], turn))
                    yield "}"
                case "branch":
                    taken, odd = next(self.names), next(self.names)
                    what = self.draw.choice([block.turn or "%t0", "%t1"])
                    yield f"{odd} = arith.remui {what}, %2 : index"
                    yield f"{taken} = arith.cmpi eq, {odd}, %1 : index"
                    yield f"scf.if {taken} {{"
                    yield from self.statements(Block(block.depth + 1, [*block.slots]))
                    yield "}"

    def load(self, block: Block, source: str) -> Iterator[str]:
        yield from self.slot(block)
        target = self.draw.choice(block.slots)
        yield f"tik.copy_gm_to_ubuf_align.b32 dst = {target}, src = {source}, length = {BYTES}"

    def slot(self, block: Block) -> Iterator[str]:
        """Mostly one more slot to choose from: a turning one, or always the first."""
        if block.slots and self.draw.random() < 0.4:
            return
        name, number = next(self.names), "%0"
        buffer, slots = self.draw.choice(list(self.buffers.items()))
        if block.turn is not None and slots > 1 and self.draw.random() < 0.8:
            number = next(self.names)
            yield f"{number} = arith.remui {block.turn}, %{slots} : index"
        yield f"{name} = tik.slot {buffer}[{number}] : !tik.buffer<ub>"
        block.slots.append(name)


def ordered(text: str) -> func.FuncOp:
    module = parse_module(text, "drawn.mlir")
    InsertSync().apply(make_context(), module)
    module.verify()
    return next(op for op in module.ops if isinstance(op, func.FuncOp))


def faults(program: Program, trips: tuple[int, ...]) -> list[str]:
    found = check_program(program, soc(), 1, [*ADDRESSES, *trips], BUFFERS)
    return [str(hazard) for hazard in found if hazard.kind not in CONTENT]


@pytest.mark.parametrize("events", [1, 2, 3, 8])
@pytest.mark.parametrize("seed", range(25))
def test_drawn_kernels_are_clean(monkeypatch, seed: int, events: int) -> None:
    few = replace(soc(), event_ids=events, reserved_event_ids=0)
    monkeypatch.setattr(insert_sync, "soc_of", lambda module: few)
    text = DrawnKernel(seed).text()
    kernel = ordered(text)
    assert insert_sync.BARRIERS not in kernel.attributes
    program = build_program(kernel)
    for trips in TRIPS:
        assert not faults(program, trips), f"{trips} trips:\n{kernel}"


@pytest.mark.parametrize("seed", range(25, 40))
def test_drawn_kernels_are_clean_by_another_judge(monkeypatch, seed: int) -> None:
    few = replace(soc(), event_ids=1 + seed % 4, reserved_event_ids=0)
    monkeypatch.setattr(insert_sync, "soc_of", lambda module: few)
    program = build_program(ordered(DrawnKernel(seed).text()))
    for trips in ((0, 2), (1, 1), (1, 2), (2, 1)):
        steps = [(d.form, d.operands) for d in trace(program, 0, 1, [*ADDRESSES, *trips])]
        verdict = judge(steps)
        assert not verdict.deadlock
        assert not verdict.races
        assert not verdict.double_sets
        assert not verdict.unbalanced
