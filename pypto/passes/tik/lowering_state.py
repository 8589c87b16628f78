"""What lowering to tik knows of a kernel: buffers, tiles as they lie in memory, and constants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from pypto.dialects import tik
from pypto.dialects.emitter import Emitter, Index
from pypto.dialects.locations import from_ir
from pypto.dialects.tile_types import TileType
from pypto.errors import CompileError
from pypto.passes.tik.whole_repeats import disjoint_loop, emit_counted
from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.target.dtypes import F16, F32, I1, U16, U32, DType
from pypto.target.instructions import exists
from pypto.target.limits import field_on
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES, Space
from pypto.target.soc import Soc

COUNT_MODE = 1
# Vector elements that tell only their width.
BITS_OF_SIZE: dict[int, DType] = {2: U16, 4: U32}


@dataclass(frozen=True, eq=False)
class Buffer:
    """Local memory: ``bytes`` in each of ``slots`` slots."""

    value: SSAValue
    bytes: int
    slots: int


@dataclass(frozen=True, eq=False)
class Tile:
    """A tile as it lies in memory: its valid ``rows`` x ``columns`` from ``pointer`` on.

    In UB rows lie ``pitch`` elements apart; a tile of one column is a dense vector of its rows
    (``pitch`` 1). ``count``: elements from the first to the end of the last row, padding included.
    In L1 and L0C ``pitch`` counts the rows of a column of fractals.
    """

    type: TileType
    rows: Index
    columns: Index
    pitch: Index
    count: Index
    pointer: SSAValue
    buffer: Buffer

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.type.dtype.bytes

    @property
    def is_vector(self) -> bool:
        """Whether the tile has one column and lies densely."""
        return self.type.shape[1] == 1

    def most(self, granule: int) -> int:
        """The largest ``count`` the shape allows."""
        rows, columns = self.type.shape
        return rows if columns == 1 else rows * round_up(columns, granule)


@dataclass
class Lowering:
    """The state of one kernel; ``emit`` makes the body, which follows allocations and prologue.

    ``granule``: rows of UB tiles begin at multiples of so many elements. ``slots``: slots of a
    tile that is stored.
    """

    emit: Emitter
    allocations: Emitter
    prologue: Emitter
    name: str
    granule: int
    slots: int
    machine: Soc
    loops: list[tuple[Block, dict[int, SSAValue]]] = field(default_factory=list)
    layouts: list[dict[tuple[Index, Index, bool], tuple[Index, Index]]] = field(
        default_factory=lambda: [{}]
    )
    constants: dict[tuple[DType, int | float | str], SSAValue] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)

    def has(self, mnemonic: str) -> bool:
        """Whether the machine has an instruction or a state operation."""
        return exists(mnemonic, self.machine.architecture)

    @property
    def counts(self) -> bool:
        """Whether a mask can count elements."""
        return self.has("set_mask_count")

    @property
    def takes_none(self) -> bool:
        """Whether instructions take 0 repeats, and 0 elements."""
        return field_on(self.machine.architecture, "vadd.f32", "repeat").low == 0

    # Buffers.

    def allocate(self, label: str, space: Space, bytes: int, slots: int = 1) -> Buffer:
        """A new buffer in the entry block."""
        number = self.labels.get(label, 0)
        self.labels[label] = number + 1
        bytes = round_up(max(bytes, 1), BLOCK_BYTES)
        self.allocations.location = self.emit.location
        value = self.allocations.value(tik.AllocOp, f"{label}{number}", space, bytes, slots)
        return Buffer(value, bytes, slots)

    def acquire(self, buffer: Buffer) -> SSAValue:
        """The slot of this turn of the innermost loop, from here on."""
        turn = self._turn(buffer.slots)
        return self.emit.value(tik.SlotOp, buffer.value, self.emit.index(turn))

    def temporary(self, label: str, bytes: int) -> SSAValue:
        """Bytes of UB for the vector pipe."""
        return self.acquire(self.allocate(label, Space.UB, bytes))

    def fill_at_start(self, buffer: Buffer) -> None:
        """Zeros in all slots at the start of the kernel: whatever is read later is a number."""
        emit = self.prologue
        emit.location = self.emit.location
        count = ceil_div(buffer.bytes, U32.bytes)
        for slot in range(buffer.slots):
            pointer = emit.value(tik.SlotOp, buffer.value, emit.index(slot))
            self._counted(emit, "vector_dup.u32", count, dst=pointer, scalar=0)

    def constant(self, dtype: DType, value: int | float) -> SSAValue:
        """A 32-byte block of one number, filled at the start of the kernel."""
        key = (dtype, repr(value))
        if key not in self.constants:
            buffer = self.allocate("constant", Space.UB, BLOCK_BYTES)
            emit = self.prologue
            emit.location = self.emit.location
            pointer = emit.value(tik.SlotOp, buffer.value, emit.index(0))
            count = BLOCK_BYTES // dtype.bytes
            self._counted(emit, f"vector_dup.{dtype}", count, dst=pointer, scalar=value)
            self.constants[key] = pointer
        return self.constants[key]

    def _turn(self, slots: int) -> Index:
        """The number of this turn of the innermost loop mod ``slots``."""
        if slots == 1 or not self.loops:
            return 0
        block, turns = self.loops[-1]
        if slots not in turns:
            with self.emit.at(InsertPoint.at_start(block)):
                turns[slots] = self.emit.index(self.emit.remainder(block.args[0], slots))
        return turns[slots]

    # Places.

    def at(self, pointer: SSAValue, bytes: Index) -> SSAValue:
        """The pointer ``bytes`` further on."""
        if isinstance(bytes, int) and bytes == 0:
            return pointer
        return self.emit.value(tik.OffsetOp, pointer, self.emit.index(bytes))

    def layout(self, type: TileType, rows: Index, columns: Index) -> tuple[Index, Index]:
        """Pitch and count of a UB tile; one computation serves all tiles of equal extents."""
        vector = type.shape[1] == 1
        key = (rows, columns, vector)
        for scope in reversed(self.layouts):
            if key in scope:
                return scope[key]
        pitch = 1 if vector else self.emit.round_up(columns, self.granule)
        found = pitch, self.emit.mul(rows, pitch)
        self.layouts[-1][key] = found
        return found

    def bytes_of(self, type: TileType) -> int:
        """Bytes of a UB tile of this shape, in whole repeats: some instructions use no less."""
        rows, columns = type.shape
        count = rows if columns == 1 else rows * round_up(columns, self.granule)
        bytes = ceil_div(count, 8) if type.dtype == I1 else count * type.dtype.bytes
        return round_up(bytes, REPEAT_BYTES)

    def tile(self, type: TileType, rows: Index, columns: Index, buffer: Buffer) -> Tile:
        """A UB tile in the current slot of a buffer."""
        pitch, count = self.layout(type, rows, columns)
        return Tile(type, rows, columns, pitch, count, self.acquire(buffer), buffer)

    def scratch(self, like: Tile, dtype: DType) -> Tile:
        """A temporary tile of the extents of another one."""
        type = TileType(*like.type.shape, dtype, Space.UB)
        buffer = self.allocate("scratch", Space.UB, self.bytes_of(type))
        return replace(like, type=type, pointer=self.acquire(buffer), buffer=buffer)

    def whole_scratch(self, like: Tile, dtype: DType) -> Tile:
        """A temporary tile that holds numbers in whole repeats, as comparisons read them."""
        made = self.scratch(like, dtype)
        self.fill_last_repeat(made)
        return made

    def is_whole(self, tile: Tile) -> bool:
        """Whether the elements of a tile are known to fill whole repeats."""
        return isinstance(tile.count, int) and tile.count % lanes_of(tile.dtype) == 0

    def fill_last_repeat(self, tile: Tile) -> None:
        """Zeros in the repeat that the elements of a tile will fill in part."""
        if self.is_whole(tile):
            return
        emit, lanes = self.emit, lanes_of(tile.dtype)
        repeat = emit.floor_div(tile.count, lanes)
        if not isinstance(repeat, int):
            repeat = emit.min(repeat, tile.buffer.bytes // REPEAT_BYTES - 1)
        target = self.at(tile.pointer, emit.mul(repeat, REPEAT_BYTES))
        self.vector("vector_dup.u32", lanes_of(U32), dst=target, scalar=0)

    # Loops.

    @contextmanager
    def disjoint(self, trips: Index) -> Iterator[Index]:
        """A loop whose turns write different bytes of every buffer acquired outside of it."""
        with disjoint_loop(self.emit, trips) as turn, self.scope():
            yield turn

    @contextmanager
    def unless_none(self, count: Index) -> Iterator[None]:
        """What ``count`` repeats or lanes do; nothing for 0 where no instruction takes 0."""
        if self.takes_none or (isinstance(count, int) and count > 0):
            yield
            return
        with self.emit.if_(self.emit.compare_lt(0, count)), self.scope():
            yield

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is computed inside is not known outside."""
        self.layouts.append({})
        try:
            yield
        finally:
            self.layouts.pop()

    def pieces(self, total: Index, most: int, limit: int) -> Iterator[tuple[Index, Index]]:
        """Start and size of pieces of at most ``limit`` of ``total``, itself at most ``most``.

        Disjoint turns of a loop, unless one piece holds all.
        """
        if most <= limit:
            with self.unless_none(total):
                yield 0, total
            return
        emit = self.emit
        with self.disjoint(emit.ceil_div(total, limit)) as turn:
            start = emit.mul(turn, limit)
            yield start, emit.min(limit, emit.sub(total, start))

    # Instructions.

    def vector(self, mnemonic: str, count: Index, **fields: int | float | SSAValue) -> None:
        """A vector instruction on the first ``count`` elements."""
        self._counted(self.emit, mnemonic, count, **fields)

    def _counted(
        self, emit: Emitter, mnemonic: str, count: Index, **fields: int | float | SSAValue
    ) -> None:
        if self.counts:
            with self.unless_none(count):
                emit.instruction(mnemonic, **counted(count), **fields)
        else:
            emit_counted(emit, mnemonic, count, fields)

    def copy(self, target: Tile, source: Tile) -> None:
        """The bytes of a UB tile, padding included."""
        self.copy_elements(target.pointer, source.pointer, target.count, target.dtype)

    def copy_elements(self, target: SSAValue, source: SSAValue, count: Index, dtype: DType) -> None:
        """``count`` elements of 2 or 4 bytes, or whole words of smaller or larger ones."""
        if dtype.bytes in BITS_OF_SIZE:
            bits = BITS_OF_SIZE[dtype.bytes]
        elif dtype == I1:
            bits, count = U16, self.emit.ceil_div(count, 8 * U16.bytes)
        elif dtype.bytes < U16.bytes:
            bits, count = U16, self.emit.ceil_div(count, U16.bytes)
        else:
            bits, count = U32, self.emit.mul(count, dtype.bytes // U32.bytes)
        if self.has(f"vcopy.{bits}"):
            self.vector(f"vcopy.{bits}", count, dst=target, src=source)
        else:
            self.copy_blocks(target, source, self.emit.mul(count, bits.bytes))

    def copy_blocks(self, target: SSAValue, source: SSAValue, bytes: Index) -> None:
        """The 32-byte blocks that ``bytes`` begin, with whatever follows in the last one."""
        blocks = self.emit.ceil_div(bytes, BLOCK_BYTES)
        with self.unless_none(blocks):
            self.emit.instruction("copy_ubuf_to_ubuf.b32", dst=target, src=source, length=blocks)

    def unsupported(self, what: str, fix: str) -> CompileError:
        """An error at the operation being lowered."""
        location = from_ir(self.emit.location)
        return CompileError(
            "UNSUPPORTED",
            f"kernel {self.name}: {self.machine.name} lacks instructions for {what}",
            location=location,
            fix=fix,
        )


def counted(count: Index) -> dict[str, Index]:
    """The fields of a vector instruction that works on the first ``count`` elements."""
    return {"mask_mode": COUNT_MODE, "mask_high": 0, "mask_low": count}


def lanes_of(dtype: DType) -> int:
    """Elements of one vector repeat."""
    return REPEAT_BYTES // dtype.bytes


def same_bits(dtype: DType) -> DType:
    """The float of the width of a type: what selects and fills bit patterns."""
    return {2: F16, 4: F32}[dtype.bytes]
