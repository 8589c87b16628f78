"""Ways to make a program smaller: pure functions from a program to programs worth trying."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from pypto.ops import ROWS
from pypto.ops.kinds import Kind
from pypto.ops.types import DYNAMIC, TensorType
from pypto.runtime.bisect_program import Program, Ref, Step

# Extents that find bugs: one, even and odd, around the blocks and repeats of the machine, and
# for what only shows in large tensors about twice as large each time.
EXTENTS = (1, 2, 7, 16, 17, 37, 65, 130, 257, 515, 1030, 2061, 4099, 8203, 16411, 32771)
EXTENT_KINDS = (Kind.INTS, Kind.OPTIONAL_INTS, Kind.PARTS)
NUMBER_KINDS = (Kind.NUMBER, Kind.OPTIONAL_NUMBER, Kind.FLOAT)
SIMPLE_NUMBERS = (1, 2, 0)

Item = TypeVar("Item")


def minimise(items: Sequence[Item], fails: Callable[[tuple[Item, ...]], bool]) -> tuple[Item, ...]:
    """A part of ``items``, in order, that still fails and does not without any one of its items.

    Delta debugging: smaller and smaller chunks are tried alone, then left out. ``items`` fail.
    """
    left = tuple(items)
    chunks = 2
    while len(left) > 1:
        size = math.ceil(len(left) / chunks)
        starts = range(0, len(left), size)
        alone = (left[start : start + size] for start in starts)
        without = (left[:start] + left[start + size :] for start in starts)
        if (found := next(filter(fails, alone), None)) is not None:
            left, chunks = found, 2
        elif chunks > 2 and (found := next(filter(fails, without), None)) is not None:
            left, chunks = found, chunks - 1
        elif size > 1:
            chunks = min(2 * chunks, len(left))
        else:
            break
    return left


def cut(program: Program, kept: Collection[int]) -> Program:
    """Only the steps numbered ``kept``; what others made becomes fresh arguments.

    The results are those of the program that are still made, and what nothing else reads.
    """
    steps = tuple(program.steps[number] for number in sorted(kept))
    made = {ref for step in steps for ref in step.results}
    read = {ref for step in steps for ref in step.reads()}
    wanted = [ref for ref in program.results if ref in made]
    wanted += [ref for step in steps for ref in step.results if ref not in read]
    return trimmed(replace(program, steps=steps, results=tuple(dict.fromkeys(wanted))))


def with_results(program: Program, results: Sequence[Ref]) -> Program:
    """The program that computes these results only."""
    needed = set(results)
    steps: list[Step] = []
    for step in reversed(program.steps):
        if needed.intersection(step.results):
            steps.append(step)
            needed.update(step.reads())
    return trimmed(replace(program, steps=tuple(reversed(steps)), results=tuple(results)))


def trimmed(program: Program) -> Program:
    """Without unused arguments and constants; what is read and never made is an argument."""
    read = [ref for step in program.steps for ref in step.reads()] + list(program.results)
    made = {ref for step in program.steps for ref in step.results}
    outside = [ref for ref in dict.fromkeys(read) if ref not in made]
    constants = {ref: program.constants[ref] for ref in outside if ref in program.constants}
    known = [ref for ref in program.arguments if ref in outside]
    fresh = [ref for ref in outside if ref not in known and ref not in constants]
    return replace(program, arguments=(*known, *fresh), constants=constants)


def without_one_step(program: Program) -> Iterator[Program]:
    """A step left out: what read it reads an operand of the same type."""
    for number, step in enumerate(program.steps):
        rest = program.steps[:number] + program.steps[number + 1 :]
        if not rest or len(step.results) != 1:
            continue
        result = step.results[0]
        for operand in dict.fromkeys(step.reads()):
            if program.types[operand] == program.types[result]:
                steps = tuple(renamed(one, result, operand) for one in rest)
                results = tuple(operand if ref == result else ref for ref in program.results)
                kept = tuple(ref for ref in results if ref in _made(steps))
                if kept:
                    yield trimmed(replace(program, steps=steps, results=kept))


def renamed(step: Step, old: Ref, new: Ref) -> Step:
    """The step reading ``new`` where it read ``old``."""
    operands = tuple(
        tuple(new if ref == old else ref for ref in operand)
        if isinstance(operand, tuple)
        else (new if operand == old else operand)
        for operand in step.operands
    )
    return replace(step, operands=operands)


def _made(steps: Sequence[Step]) -> set[Ref]:
    return {ref for step in steps for ref in step.results}


def with_fewer_constants(program: Program) -> Iterator[Program]:
    """All constants as arguments, then one at a time."""
    if len(program.constants) > 1:
        yield replace(program, arguments=(*program.arguments, *program.constants), constants={})
    for ref in program.constants:
        rest = {other: array for other, array in program.constants.items() if other != ref}
        yield replace(program, arguments=(*program.arguments, ref), constants=rest)


def extents_of(program: Program) -> list[int]:
    """All extents above 1 of arguments, constants and attributes, the largest first.

    An extent known at launch is DYNAMIC, and comes first.
    """
    outside = (*program.arguments, *program.constants)
    found = {extent for ref in outside for extent in program.types[ref].shape}
    for step in program.steps:
        for name, kind in _attribute_kinds(step):
            value = step.attributes[name]
            if name == "shape" and kind in EXTENT_KINDS and isinstance(value, tuple):
                found.update(value)
    large = [extent for extent in found if extent > 1]
    return [DYNAMIC] * (DYNAMIC in found) + sorted(large, reverse=True)


def with_small_extents(program: Program) -> Iterator[Program]:
    """All extents small at once: all 1, then different numbers from a limit on, in large steps."""
    extents = sorted(extents_of(program))
    largest = max(extents, default=1)
    for limit in EXTENTS[::2]:
        if limit == 1:
            new = dict.fromkeys(extents, 1)
        else:
            large = (e for e in extents if e > limit or e == DYNAMIC)
            new = {e: limit + place for place, e in enumerate(large)}
        if new and (limit < largest or DYNAMIC in extents):
            yield with_extents(program, new)


def with_smaller_extent(program: Program, extent: int) -> Iterator[Program]:
    """One extent, wherever it stands, as a smaller one."""
    for smaller in EXTENTS:
        if smaller < extent or extent == DYNAMIC:
            yield with_extents(program, {extent: smaller})


def with_shorter_axis(program: Program) -> Iterator[Program]:
    """One of several equal axes of an argument shorter than the others."""
    for ref in program.arguments:
        type = program.types[ref]
        for axis, extent in enumerate(type.shape):
            for smaller in EXTENTS:
                if smaller < extent and type.shape.count(extent) > 1:
                    shape = (*type.shape[:axis], smaller, *type.shape[axis + 1 :])
                    shorter = TensorType(shape, type.dtype)
                    yield replace(program, types={**program.types, ref: shorter})


def with_extents(program: Program, new: Mapping[int, int]) -> Program:
    """The program with other extents in all types and attributes."""

    def resized(shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(new.get(extent, extent) for extent in shape)

    types = {
        ref: TensorType(resized(type.shape), type.dtype) for ref, type in program.types.items()
    }
    constants = {
        ref: array[tuple(slice(extent) for extent in types[ref].shape)]
        for ref, array in program.constants.items()
    }
    steps = tuple(replace(s, attributes=_resized_attributes(s, resized)) for s in program.steps)
    return replace(program, constants=constants, steps=steps, types=types)


def _resized_attributes(
    step: Step, resized: Callable[[tuple[int, ...]], tuple[int, ...]]
) -> Mapping[str, Any]:
    attributes = dict(step.attributes)
    for name, kind in _attribute_kinds(step):
        value = attributes[name]
        if kind in EXTENT_KINDS and isinstance(value, tuple) and name != "step":
            attributes[name] = resized(value)
    return attributes


def _attribute_kinds(step: Step) -> Iterator[tuple[str, Kind]]:
    return ((p.name, p.kind) for p in ROWS[step.operator].attributes if p.name in step.attributes)


def with_simpler_numbers(program: Program) -> Iterator[Program]:
    """One number, an operand or an attribute, as a simple one."""
    for place, step in enumerate(program.steps):
        for changed in _simpler_numbers(step):
            steps = (*program.steps[:place], changed, *program.steps[place + 1 :])
            yield replace(program, steps=steps)


def _simpler_numbers(step: Step) -> Iterator[Step]:
    for place, operand in enumerate(step.operands):
        for number in _simpler(operand):
            operands = (*step.operands[:place], number, *step.operands[place + 1 :])
            yield replace(step, operands=operands)
    for name, kind in _attribute_kinds(step):
        if kind in NUMBER_KINDS:
            for number in _simpler(step.attributes[name]):
                yield replace(step, attributes={**step.attributes, name: number})


def _simpler(value: object) -> Iterator[int | float]:
    """Simple numbers of the type of a number that is not simple."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if np.isfinite(value) and value in SIMPLE_NUMBERS:
        return
    for number in SIMPLE_NUMBERS:
        yield type(value)(number)
