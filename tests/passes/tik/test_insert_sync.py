"""Ordered kernels: clean for every small trip count, and nothing inserted is there for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation

from pypto.codegen.kernel import build_program
from pypto.dialects import tik, tile
from pypto.dialects.context import make_context, parse_module
from pypto.emulator.hazards import GlobalBuffer, Hazard, HazardKind, check_program
from pypto.passes.tik import insert_sync
from pypto.passes.tik.insert_sync import InsertSync
from pypto.passes.tik.lower_to_tik import LowerToTik
from pypto.passes.tik.place_buffers import PlaceBuffers
from pypto.target.clocks import EVENT_PAIRS
from pypto.target.dtypes import DTYPES, F32
from pypto.target.memory import Pipe, Space
from pypto.target.soc import soc
from tests.passes.tik.tile_runner import TileKernel

BYTES = 1 << 20
TRIPS = (0, 1, 2, 3, 5)
# What no order of instructions cures.
CONTENT = (HazardKind.UNINIT_READ, HazardKind.UNWRITTEN)


def chain(kernel: TileKernel, handles, scalars) -> None:
    """c = exp(a + b) * a, tile after tile."""
    emit = kernel.emit
    with emit.for_(0, scalars[0]) as loop:
        place = emit.mul(loop.index, 128)
        a, b = (kernel.load(h, (1, 128), (1, 128), place) for h in handles[:2])
        powers = kernel.apply("exp", kernel.apply("add", a, b))
        kernel.store(kernel.apply("mul", powers, a), handles[2], place)


def row_sums(kernel: TileKernel, handles, scalars) -> None:
    """Rows by blocks of columns: a carried sum in an inner loop, then a store."""
    emit = kernel.emit
    with emit.for_(0, scalars[0]) as rows:
        start = kernel.full(0.0, (8, 1), (8, 1), "f32")
        with emit.for_(0, scalars[0], [start]) as loop:
            place = emit.add(emit.mul(rows.index, 4096), emit.mul(loop.index, 64))
            part = kernel.load(handles[0], (8, 64), (8, 64), place, 512)
            part = emit.value(tile.ReduceOp, "sum", part, 1)
            loop.yield_(kernel.apply("add", loop.args[0], part))
        kernel.store(loop.results[0], handles[2], emit.mul(rows.index, 8), 1)


def weights(kernel: TileKernel, handles, scalars) -> None:
    """A row is loaded once and used by every tile of a loop, behind it again."""
    emit = kernel.emit
    row = kernel.load(handles[1], (1, 64), (1, 64))
    with emit.for_(0, scalars[0]) as loop:
        place = emit.mul(loop.index, 512)
        a = kernel.load(handles[0], (8, 64), (8, 64), place, 64)
        many = kernel.broadcast(row, (8, 64), (8, 64))
        kernel.store(kernel.apply("add", a, many), handles[2], place, 64)
    kernel.store(kernel.apply("add", row, 1.0), handles[2], 8192)


def running_sums(kernel: TileKernel, handles, scalars) -> None:
    """Two pipes use a tile that is held outside of the loop: it is stored at every step."""
    emit = kernel.emit
    with emit.for_(0, scalars[0]) as rows:
        start = kernel.full(0.0, (1, 64), (1, 64), "f32")
        with emit.for_(0, scalars[0], [start]) as loop:
            place = emit.add(emit.mul(rows.index, 4096), emit.mul(loop.index, 64))
            total = kernel.apply(
                "add", loop.args[0], kernel.load(handles[0], (1, 64), (1, 64), place)
            )
            kernel.store(total, handles[2], place)
            loop.yield_(total)


def matmul(kernel: TileKernel, handles, scalars) -> None:
    """Tiles of 32 x 32 of a product, all of K in steps of 32."""
    emit = kernel.emit
    with emit.for_(0, scalars[0]) as tiles:
        shape = tile.TileType(32, 32, F32, Space.L0C)
        total = emit.value(tile.AccumulatorOp, *map(emit.index, (32, 32)), shape)
        with emit.for_(0, emit.max(scalars[0], 1), [total]) as steps:
            factors = []
            for handle, space in ((handles[0], Space.L0A), (handles[1], Space.L0B)):
                place = emit.mul(emit.add(steps.index, tiles.index), 1024)
                packet = kernel.load(handle, (32, 32), (32, 32), place, 32, space=Space.L1)
                part = tile.TileType(32, 32, DTYPES["f16"], space)
                operands = map(emit.index, (0, 0, 32, 32))
                slots = kernel.slots
                factors.append(emit.value(tile.ExtractOp, packet, *operands, part, slots=slots))
            init = emit.index(emit.equal(steps.index, 0))
            steps.yield_(emit.value(tile.MmaOp, steps.args[0], *factors, init))
        kernel.store(steps.results[0], handles[2], emit.mul(tiles.index, 1024), 32)


KERNELS: dict[str, tuple[Callable, str, str]] = {
    "chain": (chain, "vector", "f32"),
    "row sums": (row_sums, "vector", "f32"),
    "weights": (weights, "vector", "f32"),
    "running sums": (running_sums, "vector", "f32"),
    "matmul": (matmul, "cube", "f16"),
}


def ordered(name: str, slots: int) -> ModuleOp:
    body, core, element = KERNELS[name]
    dtypes = [DTYPES[element]] * 2 + [F32]
    module = TileKernel(body, core, granule=16, slots=slots).module(dtypes, 1)
    for one in (LowerToTik(), PlaceBuffers(), InsertSync()):
        one.apply(make_context(), module)
    module.verify()
    return module


def kernel_of(module: ModuleOp) -> func.FuncOp:
    return next(op for op in module.ops if isinstance(op, func.FuncOp))


def hazards(module: ModuleOp, trips: int) -> list[Hazard]:
    program = build_program(kernel_of(module))
    buffers = [
        GlobalBuffer(f"p{i}", (i + 1) * BYTES, BYTES, writable=i == 2, filled=i < 2)
        for i in range(3)
    ]
    parameters = [*(buffer.address for buffer in buffers), trips]
    return check_program(program, soc(), 1, parameters, buffers)


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("name", KERNELS)
def test_clean_for_small_trip_counts(name: str, slots: int) -> None:
    module = ordered(name, slots)
    for trips in TRIPS:
        assert not hazards(module, trips), f"{trips} trips: {hazards(module, trips)[0]}\n{module}"


# Barriers around a loop may be idle: what the loop itself orders does not count outside.
WITHOUT_IDLE_BARRIERS = ("chain", "weights", "matmul")


def sync_operations(module: ModuleOp, with_barriers: bool) -> Iterator[list[Operation]]:
    """What to take away at once: a barrier, or all flags of a pair of pipes."""
    pairs: dict[tuple[Pipe, Pipe], list[Operation]] = {}
    for op in kernel_of(module).walk():
        if with_barriers and isinstance(op, tik.BarrierOp) and op.pipe is not Pipe.ALL:
            yield [op]
        elif isinstance(op, tik.FlagOp):
            pairs.setdefault((op.source, op.target), []).append(op)
    yield from pairs.values()


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("name", KERNELS)
def test_nothing_can_be_taken_away(name: str, slots: int) -> None:
    barriers = name in WITHOUT_IDLE_BARRIERS
    for number in range(len(list(sync_operations(ordered(name, slots), barriers)))):
        module = ordered(name, slots)
        taken = list(sync_operations(module, barriers))[number]
        text = str(taken[0])
        for op in taken:
            op.detach()
        assert any(hazards(module, trips) for trips in TRIPS), text


def loads_and_uses(count: int) -> ModuleOp:
    """Each load is used before the next one comes, so that none of their flags can be merged."""
    lines = [
        f"""%b{i} = tik.alloc "b{i}" bytes 256 address {256 * i} : !tik.buffer<ub>
        %s{i} = tik.slot %b{i}[%zero] : !tik.buffer<ub>
        tik.copy_gm_to_ubuf_align.b32 dst = %s{i}, src = %a, length = 256
        tik.vabs.f32 dst = %s{i}, src = %s{i}"""
        for i in range(count)
    ]
    body = "\n".join(lines)
    return parse_module(
        f"""builtin.module {{
          func.func @kernel(%a: !tik.ptr<gm>)
              attributes {{pypto.kernel = "vector", tik.stage = "placed"}} {{
            %zero = arith.constant 0 : index
            {body}
            func.return
          }}
        }}""",
        "loads.mlir",
    )


def program_of_loads(count: int) -> tuple[func.FuncOp, list[Hazard]]:
    module = loads_and_uses(count)
    InsertSync().apply(make_context(), module)
    kernel = kernel_of(module)
    buffers = [GlobalBuffer("a", BYTES, BYTES, writable=False, filled=True)]
    return kernel, check_program(build_program(kernel), soc(), 1, [BYTES], buffers)


def said(kernel: func.FuncOp) -> dict[str, int]:
    """What a kernel says about flags that found no event."""
    names = (insert_sync.BARRIERS, insert_sync.JOINS)
    found = ((name, kernel.attributes.get(name)) for name in names)
    return {name: value.value.data for name, value in found if isinstance(value, IntegerAttr)}


@pytest.mark.parametrize(("count", "joins"), [(6, 0), (7, 1), (11, 1), (12, 2)])
def test_pipes_meet_where_flags_are_too_many(count: int, joins: int) -> None:
    kernel, found = program_of_loads(count)
    assert not found
    assert said(kernel) == ({insert_sync.JOINS: joins} if joins else {})
    pipes = [op.pipe for op in kernel.walk() if isinstance(op, tik.BarrierOp)]
    assert pipes.count(Pipe.ALL) == 1


@pytest.mark.parametrize("count", [6, 7, 9])
def test_barriers_take_the_place_of_flags_where_no_event_goes_back(monkeypatch, count: int) -> None:
    one_way = {core: pairs - {(Pipe.V, Pipe.MTE2)} for core, pairs in EVENT_PAIRS.items()}
    monkeypatch.setattr(insert_sync, "EVENT_PAIRS", one_way)
    kernel, found = program_of_loads(count)
    assert not found
    stops = max(0, count - 6)
    assert said(kernel) == ({insert_sync.BARRIERS: stops} if stops else {})
    pipes = [op.pipe for op in kernel.walk() if isinstance(op, tik.BarrierOp)]
    assert pipes.count(Pipe.ALL) == 1 + stops


STORE_BACK = """builtin.module {
  func.func @kernel(%a: !tik.ptr<gm>, %b: !tik.ptr<gm>, %c: !tik.ptr<gm>, %trips: index)
      attributes {pypto.kernel = "vector", tik.stage = "placed"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %x = tik.alloc "x" bytes 256 address 0 : !tik.buffer<ub>
    scf.for %i = %zero to %three step %one {
      scf.for %j = %zero to %trips step %one {
        %s = tik.slot %x[%zero] : !tik.buffer<ub>
        tik.copy_gm_to_ubuf_align.b32 dst = %s, src = %c, length = 256
        tik.copy_ubuf_to_gm_align.b32 dst = %c, src = %s, length = 256
      }
    }
    func.return
  }
}"""


@pytest.mark.parametrize("trips", range(4))
def test_a_loop_that_reads_what_it_stores_may_run_once(trips: int) -> None:
    module = parse_module(STORE_BACK, "store_back.mlir")
    InsertSync().apply(make_context(), module)
    found = [hazard for hazard in hazards(module, trips) if hazard.kind not in CONTENT]
    assert not found, f"{found[0]}\n{module}"


@pytest.mark.parametrize("events", [1, 2])
@pytest.mark.parametrize("name", KERNELS)
def test_clean_with_few_events(monkeypatch, name: str, events: int) -> None:
    few = replace(soc(), event_ids=events, reserved_event_ids=0)
    monkeypatch.setattr(insert_sync, "soc_of", lambda module: few)
    module = ordered(name, 2)
    for trips in TRIPS:
        assert not hazards(module, trips), f"{trips} trips: {hazards(module, trips)[0]}\n{module}"
