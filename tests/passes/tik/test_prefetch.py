"""prefetch: every pipe keeps its order, loads are dispatched early, and nothing can stand still."""

from __future__ import annotations

from collections import deque

import pytest
from xdsl.dialects import func, scf

from pypto.codegen.kernel import build_program
from pypto.dialects.context import make_context, parse_module
from pypto.emulator.hazards import trace
from pypto.passes.tik.insert_sync import InsertSync
from pypto.passes.tik.prefetch import Prefetch
from pypto.target.memory import PIPES, Pipe
from tests.passes.tik.test_sync_kernels import ADDRESSES, TRIPS, DrawnKernel, ordered

SHAPED = """builtin.module attributes {{pypto.soc = "ascend910b1"}} {{
  func.func @k(%a: !tik.ptr<gm>, %c: !tik.ptr<gm>, %t0: index, %t1: index)
      attributes {{pypto.kernel = "vector", tik.stage = "placed"}} {{
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    %x = tik.alloc "x" bytes 256 slots {slots} address 0 : !tik.buffer<ub>
    %y = tik.alloc "y" bytes 256 slots 2 address 1024 : !tik.buffer<ub>
    scf.for %i = %0 to %t0 step %1 {{
      %turn = arith.remui %i, %2 : index
      %p = tik.slot %x[{number}] : !tik.buffer<ub>
      %q = tik.slot %y[%turn] : !tik.buffer<ub>
      {first}
      tik.vabs.f32 dst = %q, src = %p
      {second}
      tik.copy_ubuf_to_gm_align.b32 dst = %c, src = %q, length = 256
    }}
    func.return
  }}
}}"""
# Drawn kernels that have a loop whose loads may come early.
SEEDS = [2, 8, 47, 69, 134, 136, 147, 170, 186, 206, 215, 217, 218, 228, 233, 234, 261, 265, 285]
LOAD = "tik.copy_gm_to_ubuf_align.b32 dst = %p, src = %a, length = 256"


def prefetched(kernel: func.FuncOp) -> func.FuncOp:
    module = kernel.parent_op()
    assert module is not None
    Prefetch().apply(make_context(), module)  # pyright: ignore[reportArgumentType]
    module.verify()
    return kernel


def dispatches(kernel: func.FuncOp, trips: tuple[int, ...]) -> list[tuple[int, str, tuple]]:
    """Queue, mnemonic and operands of what is dispatched, in order."""
    steps = trace(build_program(kernel), 0, 1, [*ADDRESSES, *trips])
    return [(d.form.queue(d.operands), d.form.mnemonic, d.operands) for d in steps]


def of_pipe(steps: list[tuple[int, str, tuple]], pipe: int) -> list[tuple[str, tuple]]:
    return [(mnemonic, operands) for queue, mnemonic, operands in steps if queue == pipe]


def stands_still(steps: list[tuple[int, str, tuple]], depth: int) -> bool:
    """Whether a scalar unit with queues of ``depth`` can be held for ever."""
    queues: dict[int, deque[tuple[str, tuple]]] = {pipe: deque() for pipe in range(len(PIPES))}
    flags: set[tuple] = set()

    def advance() -> bool:
        moved = False
        for queue in queues.values():
            while queue:
                mnemonic, operands = queue[0]
                if mnemonic == "wait_flag":
                    if operands[:3] not in flags:
                        break
                    flags.remove(operands[:3])
                elif mnemonic == "set_flag":
                    flags.add(operands[:3])
                queue.popleft()
                moved = True
        return moved

    for queue, mnemonic, operands in steps:
        while len(queues[queue]) == depth:
            if not advance():
                return True
        queues[queue].append((mnemonic, operands))
    while advance():
        pass
    return any(queues.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_kernels_keep_the_order_of_every_pipe(seed: int) -> None:
    text = DrawnKernel(seed).text()
    before, after = ordered(text), prefetched(ordered(text))
    assert str(before) != str(after)
    for trips in TRIPS:
        plain, early = dispatches(before, trips), dispatches(after, trips)
        for pipe in range(len(PIPES)):
            assert of_pipe(plain, pipe) == of_pipe(early, pipe), f"{PIPES[pipe]}, {trips}"
        for depth in (1, 2, 32):
            assert not stands_still(early, depth), f"queues of {depth}, {trips} trips"


def shaped(slots: int = 2, first: str = LOAD, second: str = "") -> func.FuncOp:
    number = "%turn" if slots == 2 else "%0"
    text = SHAPED.format(slots=slots, number=number, first=first, second=second)
    module = parse_module(text, "shaped.mlir")
    InsertSync().apply(make_context(), module)
    return next(op for op in module.ops if isinstance(op, func.FuncOp))


def first_pipes(kernel: func.FuncOp, trips: int) -> list[Pipe]:
    """The pipes of the data instructions as they are dispatched."""
    steps = dispatches(kernel, (trips, 0))
    names = ("set_flag", "wait_flag", "pipe_barrier")
    return [PIPES[queue] for queue, mnemonic, _ in steps if mnemonic not in names]


@pytest.mark.parametrize("trips", [0, 1, 2, 3, 7])
def test_loads_come_one_turn_early(trips: int) -> None:
    found = first_pipes(prefetched(shaped()), trips)
    turns = [Pipe.MTE2, Pipe.V, Pipe.MTE3]
    if trips == 0:
        assert found == []
        return
    assert found[0] is Pipe.MTE2
    assert found.count(Pipe.MTE2) == found.count(Pipe.V) == trips
    assert found[1 : 1 + 3 * (trips - 1)] == turns * (trips - 1)


@pytest.mark.parametrize(
    ("slots", "first", "second", "why"),
    [
        (1, LOAD, "", "the only slot comes back at the end of the turn before"),
        (2, "", "", "nothing is loaded"),
        (2, LOAD, LOAD, "the second load waits for the arithmetic of its own turn"),
    ],
)
def test_what_cannot_be_early_stays(slots: int, first: str, second: str, why: str) -> None:
    kernel = shaped(slots, first, second)
    before = str(kernel)
    assert str(prefetched(kernel)) == before, why


ORDERED = """builtin.module attributes {{pypto.soc = "ascend910b1"}} {{
  func.func @k(%a: !tik.ptr<gm>, %c: !tik.ptr<gm>, %t0: index, %t1: index)
      attributes {{pypto.kernel = "vector", tik.stage = "ordered"}} {{
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    %4 = arith.constant 4 : index
    %x = tik.alloc "x" bytes 256 slots 1 address 0 : !tik.buffer<ub>
    %y = tik.alloc "y" bytes 256 slots 1 address 1024 : !tik.buffer<ub>
    %p = tik.slot %x[%0] : !tik.buffer<ub>
    %q = tik.slot %y[%0] : !tik.buffer<ub>
    scf.for %j = %0 to %4 step %1 {{
      tik.set_flag v -> mte2, %j
    }}
    scf.for %i = %0 to %t0 step {step} {{
      %next = arith.addi %i, %1 : index
      %turn = arith.remui %i, %2 : index
      %other = arith.remui %next, %2 : index
      {body}
    }}
    func.return
  }}
}}"""
PASS = """tik.set_flag mte2 -> v, %turn
      tik.wait_flag mte2 -> v, %turn
      tik.vabs.f32 dst = %q, src = %p"""
INNER = f"""scf.for %j = %0 to %4 step %1 {{
        tik.wait_flag v -> mte2, %j
        scf.for %l = %0 to %t1 step %1 {{
          {LOAD}
        }}
      }}
      {PASS}
      scf.for %j = %0 to %4 step %1 {{
        tik.set_flag v -> mte2, %j
      }}"""
ONE_TURN_AGO = f"""tik.wait_flag v -> mte2, %turn
      {LOAD}
      {PASS}
      tik.set_flag v -> mte2, %other"""
TWO_TURNS_AGO = ONE_TURN_AGO.replace("%other", "%turn")


@pytest.mark.parametrize(
    ("body", "step", "moves"),
    [
        (INNER, "%1", False),  # the same events in every turn
        (ONE_TURN_AGO, "%1", False),
        (TWO_TURNS_AGO, "%2", False),  # turns 0, 2, 4 … have one event
        (TWO_TURNS_AGO, "%1", True),
    ],
)
def test_only_slots_of_the_turn_before_the_last_are_waited_for(
    body: str, step: str, moves: bool
) -> None:
    module = parse_module(ORDERED.format(body=body, step=step), "ordered.mlir")
    kernel = next(op for op in module.ops if isinstance(op, func.FuncOp))
    before = str(kernel)
    assert (str(prefetched(kernel)) != before) == moves
    if moves:
        assert not any(stands_still(dispatches(kernel, (trips, 0)), 1) for trips in range(8))


def test_loads_of_an_inner_loop_come_early_within_it() -> None:
    text = SHAPED.format(slots=2, number="%turn", first="", second="").replace(
        "      tik.vabs.f32 dst = %q, src = %p\n",
        f"""      scf.for %j = %0 to %t1 step %1 {{
        %r = arith.remui %j, %2 : index
        %s = tik.slot %x[%r] : !tik.buffer<ub>
        {LOAD.replace("%p", "%s")}
        tik.vabs.f32 dst = %q, src = %s
      }}
""",
    )
    module = parse_module(text, "nested.mlir")
    InsertSync().apply(make_context(), module)
    kernel = prefetched(next(op for op in module.ops if isinstance(op, func.FuncOp)))
    loops = [op for op in kernel.walk() if isinstance(op, scf.ForOp)]
    assert len(loops) == 2
    names = [d[1] for d in dispatches(kernel, (2, 3)) if d[1].startswith(("copy_gm", "vabs"))]
    assert names[:4] == ["copy_gm_to_ubuf_align.b32"] * 2 + [
        "vabs.f32",
        "copy_gm_to_ubuf_align.b32",
    ]
