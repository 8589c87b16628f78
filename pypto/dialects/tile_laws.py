"""The laws of kernels made of tiles."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func, scf
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto.dialects import tile
from pypto.dialects.laws import BrokenLaw
from pypto.dialects.tik_instructions import InstructionOp
from pypto.target.memory import Pipe, Space


def one_level_at_a_time(kernel: func.FuncOp) -> None:
    """A kernel holds tile operations or machine instructions, not both."""
    ops = list(kernel.walk())
    if any(op.dialect_name() == "tile" for op in ops):
        for op in ops:
            if isinstance(op, InstructionOp):
                raise BrokenLaw(op, "a machine instruction stands among tile operations")


def every_tile_knows_its_valid_part(kernel: func.FuncOp) -> None:
    """The valid part of every tile follows from the operation that roots it."""
    for op in kernel.walk():
        for result in op.results:
            if tile.is_tile(result):
                try:
                    tile.valid_shape(result)
                except VerifyException as error:
                    raise BrokenLaw(op, str(error)) from error


def operands_of_apply_agree(kernel: func.FuncOp) -> None:
    """Tiles that are combined element by element have the same valid part, where it is known."""
    for op in kernel.walk():
        if isinstance(op, tile.ApplyOp):
            _agree(op, list(op.arguments))


def carried_tiles_keep_their_valid_part(kernel: func.FuncOp) -> None:
    """A tile that a loop carries has the same valid part in every turn, where it is known."""
    for op in kernel.walk():
        if isinstance(op, scf.ForOp) and isinstance(op.body.block.last_op, scf.YieldOp):
            pairs = zip(op.iter_args, op.body.block.last_op.arguments, strict=True)
            for initial, yielded in pairs:
                if tile.is_tile(initial):
                    _agree(op, [initial, yielded])


def _agree(op: Operation, values: list[SSAValue]) -> None:
    for extents in zip(*(tile.valid_shape(value) for value in values), strict=True):
        known = {extent for extent in extents if isinstance(extent, int)}
        if len(known) > 1:
            raise BrokenLaw(op, f"valid extents differ: {sorted(known)}")


def nested_loops_share_outer_tiles_with_one_pipe(kernel: func.FuncOp) -> None:
    """Inside a nested loop, a tile held outside of it is touched by one pipe only."""
    for loop in kernel.walk():
        if not isinstance(loop, scf.ForOp) or not _is_nested(loop):
            continue
        pipes: dict[SSAValue, Pipe] = {}
        for op in loop.body.block.walk():
            for value in _touched(op):
                root = _held_outside(value, loop)
                if root is not None and pipes.setdefault(root, pipe_of(op)) is not pipe_of(op):
                    raise BrokenLaw(
                        op,
                        f"a tile held outside this loop meets pipe {pipe_of(op)} besides "
                        f"{pipes[root]}",
                    )


def _is_nested(loop: scf.ForOp) -> bool:
    around = loop.parent_op()
    while around is not None and not isinstance(around, scf.ForOp):
        around = around.parent_op()
    return around is not None


def pipe_of(op: Operation) -> Pipe:
    """The pipe a tile operation will run on."""
    match op:
        case tile.LoadOp():
            return Pipe.MTE2
        case tile.StoreOp():
            return Pipe.FIX if tile.tile_type(op.source).space is Space.L0C else Pipe.MTE3
        case tile.ExtractOp():
            return Pipe.MTE1
        case tile.MmaOp():
            return Pipe.M
        case _:
            return Pipe.V


def _touched(op: Operation) -> Iterator[SSAValue]:
    if op.dialect_name() == "tile":
        yield from (value for value in op.operands if tile.is_tile(value))


def _held_outside(value: SSAValue, loop: scf.ForOp) -> SSAValue | None:
    """The tile outside of ``loop`` whose buffer a value inside has, None when it is made inside."""
    while True:
        owner = value.owner
        if isinstance(value, BlockArgument):
            around = value.block.parent_op()
            if not isinstance(around, scf.ForOp):
                return value
            value = around.iter_args[value.index - 1]
        elif isinstance(owner, tile.MmaOp) and loop.is_ancestor(owner):
            value = owner.accumulator
        elif isinstance(owner, scf.ForOp) and loop.is_ancestor(owner):
            assert isinstance(value, OpResult)
            value = owner.iter_args[value.index]
        else:
            return None if isinstance(owner, Operation) and loop.is_ancestor(owner) else value


TILE_LAWS = (
    one_level_at_a_time,
    every_tile_knows_its_valid_part,
    operands_of_apply_agree,
    carried_tiles_keep_their_valid_part,
    nested_loops_share_outer_tiles_with_one_pipe,
)
